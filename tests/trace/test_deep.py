"""Where the program has hardly any stack left, the hook goes on, and what it recorded is written."""

from __future__ import annotations

import sys

import pytest
from test_pythons import interpreter

DEEP = """\
import ctypes, os, sys
import torch
t = torch.zeros(1)
TOO_DEEP = RecursionError, ctypes.ArgumentError
def down(left, function):
    return function() if left == 0 else down(left - 1, function)
def deepest():
    def works(frames):
        try:
            down(frames, lambda: None)
        except TOO_DEEP:
            return False
        return True
    low, high = 100, sys.getrecursionlimit()
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low
DEPTH = deepest()
def last():
    t.tolist()
"""


@pytest.mark.parametrize("spare", [9, 16, 60])
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_what_was_recorded_is_written_when_a_process_ends_deep_in_a_recursion(
    run_trace, program, version, spare
):
    python = sys.executable if version == "3.11" else interpreter(version)
    script = program(DEEP + f"def end():\n    last()\n    os._exit(3)\ndown(DEPTH - {spare}, end)\n")
    done = run_trace([python, script])
    assert (done.status, done.stdout, done.stderr.partition("syncscan: ")[0]) == (3, "", "")
    assert [site["function"] for site in done.sites] == ["last"]
    assert done.trace["processes"][0]["notes"] == []


@pytest.mark.parametrize("version", ["3.11", "3.12"])
def test_a_wait_at_the_limit_of_the_recursion_does_not_end_the_trace(run_trace, program, version):
    source = """
read_so_far = 0
def read():
    global read_so_far
    try:
        t.item()
        read_so_far += 1
        read()
    except TOO_DEEP:
        pass
read()
print(read_so_far)
last()
"""
    python = sys.executable if version == "3.11" else interpreter(version)
    done = run_trace([python, program(DEEP + source)])
    assert done.status == 0
    assert {site["function"] for site in done.sites} == {"read", "last"}
    lost = int(done.stdout) - done.counts()["t.item()"]
    assert int(done.stdout) > 900
    assert 0 <= lost < 5
    note = "some synchronizations are not counted: the program was at the limit of its recursion"
    assert done.trace["processes"][0]["notes"] == [note] * (lost > 0)


def test_cuda_that_starts_deep_in_a_recursion_is_watched(trace):
    source = DEEP.replace("t = torch.zeros(1)\n", "")
    done = trace(source + "down(DEPTH - 30, lambda: torch.zeros(1))\nt = torch.zeros(1)\nlast()\n")
    assert (done.status, done.counts()) == (0, {"t.tolist()": 1}), done.stderr


@pytest.mark.parametrize("spare", [30, 60])
def test_a_simulated_gpu_that_starts_deep_in_a_recursion_writes_its_waits(run_trace, program, spare):
    pytest.importorskip("torch")
    source = DEEP.replace("torch.zeros(1)", "torch.zeros(1, device='cuda')")
    script = program(
        source + f"def read():\n    last()\n    os.kill(os.getpid(), 9)\ndown(DEPTH - {spare}, read)\n"
    )
    done = run_trace([sys.executable, script], ("--simulate",), PYTHONPATH="")
    assert (done.status, [site["function"] for site in done.sites]) == (137, ["last"]), done.stderr
    assert done.trace["processes"][0]["notes"] == []
