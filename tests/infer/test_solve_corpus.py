"""The sparse solver finds what the marks of the corpus say, and the waits that they name as gaps of the other one."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from syncscan.check.engine import Engine
from syncscan.check.infer.solve.solver import SparseSolver
from tests.check.marks import Program, programs
from tests.check.test_corpus import compare, findings_in
from tests.conftest import Command

# Gains: waits that are marked as gaps of the other solver, and confidences that a literal device or a declared type raises.
# The last one is a gap of this solver: the evidence of a process group that a collective does not name.
DIFFERENT = {
    "modules/gaps_in_what_is_passed": "expected assumed, found inferred",
    "python/chains_beyond_the_bound": "is found now: write `expect` for `todo`",
    "python/functions_defaults_and_callers": "is found now: write `expect` for `todo`",
    "python/loop_carries_values": "is found now: write `expect` for `todo`",
    "torch/indices_from_masks": "expected assumed, found proved",
    "torch/layers_attributes": "is found now: write `expect` for `todo`",
    "torch/views_of_what_may_be_none": "is found now: write `expect` for `todo`",
    "torch/distributed_nccl": "found []",
}


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.title)
def test_the_sparse_solver_finds_what_the_marks_say(
    program: Program,
    project: Callable[[dict[str, str | bytes]], Path],
    syncscan: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if sys.version_info < (3, program.python):
        pytest.skip(f"is for Python 3.{program.python}")
    for place in ("engine", "session"):
        monkeypatch.setattr(f"syncscan.check.{place}.Engine", functools.partial(Engine, solver=SparseSolver))
    differences = compare(program, findings_in(program.files, project, syncscan))
    assert {each.splitlines()[-1].strip() for each in differences} == {
        *filter(None, [DIFFERENT.get(program.title)])
    }
