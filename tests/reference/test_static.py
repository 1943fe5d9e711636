"""`syncscan check` finds each marked line of the blocking forms, and nothing in the sync-free ones.

They are checked in a project of their own, with ``pairs.py`` as the runtime that calls both: here the
other tests call them with CPU tensors, which is evidence for silence. Functions whose tensors come from
callers that cannot be seen are found from the confidence "assumed" on.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clones import copy_parts

ROOT = Path(__file__).resolve().parents[2]
BLOCKING = "syncscan/reference/blocking"
SYNC_FREE = "syncscan/reference"
RUNTIME = "tests/reference/pairs.py"

Places = set[tuple[str, int, str]]


def findings(project: Path) -> Places:
    command = [
        sys.executable,
        "-m",
        "syncscan",
        "check",
        "--output-format",
        "json",
        "--when",
        "all",
        "--min-confidence",
        "assumed",
    ]
    result = subprocess.run(
        [*command, project / SYNC_FREE], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode in {0, 1}, result.stderr
    return {
        (found["path"].partition("project/")[2], found["line"], found["code"])
        for found in json.loads(result.stdout)["findings"]
    }


def marks(folder: str) -> Places:
    return {
        (path.relative_to(ROOT).as_posix(), number, code)
        for path in (ROOT / folder).glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for code in re.findall(r"SYN\d+", line.partition("# expect:")[2])
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Places:
    project = tmp_path_factory.mktemp("project", numbered=False)
    copy_parts((SYNC_FREE, RUNTIME), project)
    for package in ("syncscan", "tests", "tests/reference"):
        (project / package / "__init__.py").touch()
    (project / "pyproject.toml").write_text("[tool.syncscan]\n")
    return findings(project)


@pytest.mark.parametrize("code", sorted({code for _, _, code in marks(BLOCKING)}))
def test_every_wait_of_the_blocking_forms_is_found_at_its_line(found: Places, code: str) -> None:
    lines = {place for place in found if place[0].startswith(BLOCKING) and place[2] == code}
    assert lines == {place for place in marks(BLOCKING) if place[2] == code}


def test_nothing_else_is_found_in_the_blocking_forms(found: Places) -> None:
    assert {place for place in found if place[0].startswith(BLOCKING)} <= marks(BLOCKING)


def test_nothing_is_found_in_the_sync_free_forms(found: Places) -> None:
    assert {place for place in found if not place[0].startswith(BLOCKING)} == set()
