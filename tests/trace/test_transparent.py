"""A traced program differs in nothing from one that runs alone; `python -m benchmarks.transparent` tries them all."""

from __future__ import annotations

import pytest

from benchmarks.transparent.harness import (
    WAYS,
    NoPythonError,
    diff,
    differences,
    environment_with_fake_cuda,
    run,
)
from benchmarks.transparent.known import reason
from benchmarks.transparent.programs import programs

PROGRAMS = programs()
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
    found = {aspect: diff(*pair, "trace") for aspect, pair in differences(alone, traced).items()}
    assert {aspect: lines for aspect, lines in found.items() if not reason(name, aspect, lines)} == {}
