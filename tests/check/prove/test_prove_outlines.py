"""A proof reads the outlines of files in several processes, and sees names that other files set on a module."""

from __future__ import annotations

import pytest

from syncscan.check.prove.outline import Outline
from tests.check.changing import project, source
from tests.check.prove.proving import certificates, proved_in_turn

SETTINGS = {
    "settings": "LIMIT = 3\n",
    "asks": "import settings\n\ndef run():\n    if settings.LIMIT:\n        pass\n",
    "sets": "import settings, torch\n\ndef change(x):\n    x.size = 3\n",
}


def test_a_body_that_sets_a_name_of_a_module_reaches_the_functions_that_read_it() -> None:
    first = {name: source(name, text) for name, text in SETTINGS.items()}
    setting = SETTINGS["sets"].replace("x.size = 3", 'settings.LIMIT = torch.ones(3, device="cuda")')
    found = [
        each.is_proved
        for each in proved_in_turn("asks:run", first, {**first, "sets": source("sets", setting)})
    ]
    assert found == [True, False]


def test_several_processes_read_the_files_of_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, _ = certificates(project())
    read, of = list[str](), Outline.of
    monkeypatch.setattr("syncscan.check.prove.source._WORTH_SHARING", 1)
    monkeypatch.setattr("syncscan.check.prove.source.workers", lambda jobs: 2)
    monkeypatch.setattr(Outline, "of", lambda module: read.append(module.path) or of(module))
    together, _ = certificates(project())
    assert together == alone
    assert 0 < len({*read}) < len(project())
