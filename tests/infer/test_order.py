"""The result is a function of the source alone, in whatever order it is given and whatever its texts hash to."""

from __future__ import annotations

import ast
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from syncscan.check.engine import check_sources
from syncscan.check.files import Source, read_source
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.trees import tree_of
from syncscan.model import Conventions, Finding
from syncscan.ops import load_table

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


def parses(source: Source) -> bool:
    try:
        ast.parse(source.text)
    except SyntaxError:  # of a newer Python
        return False
    return True


def solved(sources: list[Source]) -> Solver:
    modules = [
        index_module(each.module, each.shown, tree_of(each.text), Lines(each.text), is_package=False)
        for each in sources
    ]
    solver = Solver(modules, load_table(), Conventions())
    solver.solve(lambda *_: None)
    return solver


def test_functions_of_a_step_see_what_was_known_before_it(sources) -> None:
    sources = [each for each in sources if parses(each)]
    runs = set[tuple[int, tuple[str, ...]]]()
    for order in (sources, sources[::-1], random.Random(3).sample(sources, len(sources))):
        solver = solved(order)
        blocking = sorted(function.key for function in solver.known.may_block)
        runs.add((solver.executed, tuple(blocking)))
    assert len(runs) == 1


def test_an_instruction_waits_for_all_of_its_operands() -> None:
    def executed(length: int) -> int:
        names = [f"x{number}" for number in range(length)]
        steps = [f"    {name} = {before} + 1" for before, name in itertools.pairwise(names)]
        uses = [f"    print({', '.join(names)})"] * length
        body = "\n".join(["def f(x0):", *steps, *uses])
        text = f"import torch\n{body}\nf(torch.zeros(3, device='cuda'))\n"
        return solved([Source(Path("a.py"), "a.py", "a", text)]).executed

    short, middle, long = map(executed, (10, 20, 30))
    assert long - middle == middle - short  # however long the way to an operand is
