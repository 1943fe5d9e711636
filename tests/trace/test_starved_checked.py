"""The starved time of a few steps against when kernels ran, by CUPTI's activity records.

The stand-in for CUPTI asks for buffers on a thread of its own while the thread that launches holds the interpreter lock.
"""

from __future__ import annotations

import os
import sys

import pytest

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the buffers' code is for x86-64")

MS = 1_000_000
STEP = """
import time
def idle(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
def step(t, cuda):
    t.item()
    idle(0.01)
    cuda.fake_launch(0)
    idle(0.03)
"""
START = """
import torch, work
cuda = torch._library
t = torch.zeros(1)
def steps(number):
    for _ in range(number):
        work.step(t, cuda)
"""
OPTIONS = ("--starved", "--step", "work:step")


@pytest.fixture
def checked(run_trace, program):
    """Traces a program whose steps wait, idle for 10 ms, launch, and idle for 30 ms."""

    def run(source: str, *options: str, step: str = STEP, **variables: str):
        program(step, "work.py")
        done = run_trace([sys.executable, program(START + source)], options or OPTIONS, **variables)
        assert done.status == 0, done.stderr
        assert not [line for line in done.stderr.splitlines() if "tracing stops" in line], done.stderr
        assert "fake_cuda" not in done.stderr
        return done

    return run


def notes(done) -> list[str]:
    return [note for process in done.trace["processes"] for note in process["notes"]]


def test_a_few_steps_are_held_against_the_kernels(checked):
    done = checked("cuda.fake_set_kernel(20_000_000, 1000)\nsteps(12)\nprint(cuda.fake_recording())\n")
    check = done.trace["starved_check"]
    assert (check["steps"], check["waits"]) == (3, 3)
    assert 3 * 10 * MS <= check["starved_ns"] < 1000 * MS
    assert 3 * 20 * MS <= check["timeline_ns"] - check["starved_ns"] < 3 * 20 * MS + 400 * MS
    assert done.stdout == "0\n"
    told = [
        line
        for line in done.stderr.splitlines()
        if line.startswith("idle GPU time was checked in 3 steps (3 syncs): ")
    ]
    assert len(told) == 1
    assert " per step by the kernels' own timeline, " in told[0]
    assert told[0].endswith(" by the launches")
    assert not notes(done)


def test_while_a_kernel_runs_the_gpu_does_not_starve(checked):
    done = checked("cuda.fake_set_kernel(0, 60_000_000)\nsteps(9)\nwork.idle(0.1)\n")
    check = done.trace["starved_check"]
    assert (check["steps"], check["waits"], check["timeline_ns"]) == (3, 3, 0)
    assert check["starved_ns"] >= 3 * 10 * MS


def test_other_gpus_do_not_matter(checked):
    step = STEP + "    cuda.fake_set_context(2)\n    cuda.fake_launch(0)\n    cuda.fake_set_context(1)\n"
    step = step.replace(
        "    idle(0.01)\n",
        "    cuda.fake_set_context(2)\n    cuda.fake_launch(0)\n    cuda.fake_set_context(1)\n    idle(0.01)\n",
    )
    check = checked("steps(9)\n", step=step).trace["starved_check"]
    assert (check["steps"], check["waits"]) == (3, 3)
    assert check["timeline_ns"] >= 3 * 10 * MS


def test_more_steps_are_checked_later(checked):
    done = checked("steps(8)\nwork.idle(1.2)\nsteps(18)\n")
    assert done.trace["starved_check"]["steps"] == 6


def test_warm_up_is_not_checked(checked):
    done = checked("steps(9)\n", *OPTIONS, "--warmup", "4")
    assert done.trace["starved_check"]["steps"] == 2


@pytest.mark.parametrize("options", [("--starved",), ("--step", "work:step")])
def test_nothing_is_recorded_without_starved_time_and_steps(checked, options):
    done = checked("steps(12)\nprint(cuda.fake_registered())\n", *options)
    assert done.stdout == "0\n"
    assert done.trace["starved_check"] is None
    assert "checked" not in done.stderr


PROFILER = """
import sys, types
profiler = sys.modules["torch.autograd.profiler"] = types.ModuleType("profiler")
profiler._prepare_profiler = lambda: print(sys.modules["torch"]._library.fake_recording())
"""


def test_a_profiler_of_the_program_finds_nothing_recording(checked):
    source = "steps(6)\nprint(cuda.fake_recording())\nwork.profiler._prepare_profiler()\nsteps(20)\nprint(cuda.fake_recording())\n"
    done = checked(source, step=PROFILER + STEP)
    assert done.stdout == "1\n0\n0\n"
    assert done.trace["starved_check"]["steps"] == 3


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"FAKE_CUPTI_VERSION": "17"}, "the records of CUPTI 17 are not known"),
        ({"FAKE_CUPTI_NO_RECORDS": "1"}, "cuptiActivityRegisterCallbacks gave error 15"),
    ],
)
def test_where_it_cannot_be_it_says_so(checked, variables, why):
    done = checked("steps(12)\nprint(cuda.fake_recording())\n", **variables)
    assert done.stdout == "0\n"
    assert notes(done) == [f"idle GPU time was not checked against the kernels' timeline: {why}"]
    assert done.trace["starved_check"] is None
    assert done.site("t.item()")["starved_ns"]["measured"] == 12


def test_more_kernels_than_room_are_not_taken_for_all(checked):
    done = checked("steps(3)\ncuda.fake_launch_often(130_000)\nsteps(6)\n")
    assert notes(done) == [
        "idle GPU time was not checked against the kernels' timeline: there were more kernels than room for them"
    ]
    assert done.trace["starved_check"] is None


def test_a_kernel_that_runs_for_long_is_waited_for(checked):
    done = checked("cuda.fake_set_kernel(0, 900_000_000)\nsteps(9)\nwork.idle(1.2)\n")
    check = done.trace["starved_check"]
    assert (check["steps"], check["waits"], check["timeline_ns"]) == (3, 3, 0)


def test_a_kernel_without_an_end_is_not_guessed_at(checked):
    done = checked("steps(4)\ncuda.fake_set_kernel(0, 4_000_000_000)\nsteps(6)\n")
    assert notes(done) == [
        "idle GPU time was not checked against the kernels' timeline: a kernel of them has not ended"
    ]


def test_a_forked_child_leaves_alone_what_its_parent_records(checked):
    done = checked(
        "import os\nsteps(4)\npid = os.fork()\nif not pid:\n    steps(10)\n    print(cuda.fake_recording(), flush=True)\n    os._exit(0)\n"
        "os.waitpid(pid, 0)\nsteps(6)\nprint(cuda.fake_recording())\n"
    )
    assert done.stdout == "1\n0\n"
    assert done.trace["starved_check"]["steps"] == 3


def test_a_program_that_ends_while_it_is_recorded_ends_well(checked):
    done = checked("steps(3)\nprint(cuda.fake_recording())\n")
    assert done.stdout == "1\n"
    assert done.trace["starved_check"] is None


OTHER_STREAM = "cuda.fake_wait(0)\ncuda.fake_launch(0)\ncuda.fake_launch(5)\ncuda.fake_set_busy(5, 1)\n"


def test_what_was_launched_before_is_in_no_record_and_not_taken_for_idleness(checked):
    done = checked(OTHER_STREAM + "steps(12)\n")
    assert done.site("t.item()")["starved_ns"]["total"] == 0
    assert done.trace["starved_check"] is None


def test_from_a_wait_that_found_the_gpu_idle_on_all_that_runs_is_in_the_records(checked):
    step = STEP.replace(
        "def step(t, cuda):\n", "def step(t, cuda, number):\n    cuda.fake_set_busy(5, number < 4)\n"
    )
    source = OTHER_STREAM + "for number in range(12):\n    work.step(t, cuda, number)\n"
    check = checked(source, step=step).trace["starved_check"]
    assert (check["steps"], check["waits"]) == (2, 2)
    assert check["starved_ns"] >= 2 * 10 * MS
