"""A traced program differs in nothing from one that runs alone; `python -m benchmarks.transparent` tries them all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.transparent.compare import compare
from benchmarks.transparent.harness import (
    WAYS,
    NoPythonError,
    Outcome,
    environment_with_fake_cuda,
    run,
)
from benchmarks.transparent.programs import programs

PROGRAMS = {name: program for name, program in programs().items() if WAYS["trace"].takes(program)}
EACH = 8  # of them are tried here


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 200


@pytest.mark.parametrize("name", sorted(PROGRAMS)[::EACH])
def test_a_program_runs_traced_as_it_runs_alone(cuda_library, tmp_path, name):
    environment, way = environment_with_fake_cuda(cuda_library), WAYS["trace"]
    try:
        alone, traced = (
            run(PROGRAMS[name], tmp_path / "work", environment, way, alone=alone) for alone in (True, False)
        )
    except NoPythonError as error:
        pytest.skip(f"there is no Python {error} here")
    assert compare(name, alone, traced, "trace")[0] == {}


def test_what_is_known_hides_no_other_difference():
    alone = Outcome(0, "", "", {}, "['type', 'type']\nmodule torch\n")
    finder = replace(
        alone, state="['PatchFinder', 'type', 'type']\nmodule torch\nmodule torch.utils._device\n"
    )
    assert compare("exit 0", alone, finder, "simulate")[0] == {}
    assert "state" in compare("exit 0", alone, finder, "trace")[0]
    for said in ("['PatchFinder', 'type']\nmodule torch\n", "['PatchFinder', 'type', 'type']\n"):
        assert "state" in compare("exit 0", alone, replace(alone, state=said), "simulate")[0]
