"""The result is a function of the source alone, in whatever order it is given and whatever its texts hash to."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from syncscan.check.engine import check_sources
from syncscan.check.files import Source, read_source
from syncscan.model import Conventions, Finding

CORPUS = Path(__file__).parents[1] / "check" / "corpus"
FILES = sorted(CORPUS.rglob("*.py"))


def found(sources: list[Source], jobs: int = 1) -> list[Finding]:
    return check_sources(sources, None, Conventions(), lambda *_: None, jobs).findings


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    return [read_source(path, CORPUS, {}) for path in FILES[::3]]


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_the_files_changes_nothing(sources, seed) -> None:
    shuffled = sources.copy()
    random.Random(seed).shuffle(shuffled)
    assert shuffled != sources
    assert found(shuffled, jobs=seed) == found(sources)


CALLER = 'import torch\nfrom c import f\nf(torch.zeros(3, device="cuda"))\n'


def test_the_evidence_is_the_same_in_every_order() -> None:
    texts = {"a": CALLER, "b": CALLER, "c": "def f(x):\n    x.item()\n"}
    files = [Source(Path(f"{name}.py"), f"{name}.py", name, text) for name, text in texts.items()]
    results = [found(list(order)) for order in itertools.permutations(files)]
    assert [step.path for step in results[0][0].evidence] == ["a.py"]
    assert results == [results[0]] * 6


@pytest.mark.long
def test_the_hashes_of_texts_change_nothing() -> None:
    command = [
        sys.executable,
        "-m",
        "syncscan",
        "check",
        "--isolated",
        "--no-cache",
        "--output-format",
        "json",
        ".",
    ]
    runs = [
        subprocess.run(
            command, cwd=CORPUS / "python", env={"PYTHONHASHSEED": seed}, capture_output=True, check=False
        )
        for seed in ("1", "2")
    ]
    first, second = (json.loads(run.stdout)["findings"] for run in runs)
    assert len(first) > 20
    assert first == second
