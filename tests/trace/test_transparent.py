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


@pytest.mark.parametrize(
    "thread", ["  <no Python frame>\n", '  File "trace/hook/_syncscan_hook/hook.py", line 2 in _flush_loop\n']
)
@pytest.mark.parametrize("way", ["trace", "simulate"])
def test_a_dump_of_all_threads_may_show_the_thread_that_writes_and_no_other(way, thread):
    name = "end by a segmentation fault that faulthandler shows"
    assert name in PROGRAMS
    ended = (
        "Fatal Python error: Segmentation fault\n\n{}Current thread 0x (most recent call first):\n  File x\n"
    )
    alone = Outcome(-11, "", ended.format(""), {}, "")
    seen = replace(alone, stderr=ended.format(f"Thread 0x (most recent call first):\n{thread}\n"))
    assert compare(name, alone, seen, way)[0] == {}
    other = replace(seen, stderr=seen.stderr.replace("Thread 0x (", 'Thread 0x (\n  File "other.py"\n', 1))
    assert "stderr" in compare(name, alone, other, way)[0]
