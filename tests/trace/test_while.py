"""A part of a run is traced, and reports come while the command runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from tests.foreground import foreground

HOOK = "import sys\nimport torch\nt = torch.zeros(1)\nhook = sys.modules['_syncscan_hook.start'].hook\n"


def test_what_waits_before_the_start_is_left_out(trace):
    done = trace(
        HOOK + "assert not hook.recorder.recording\nwhile not hook._window.is_open:\n    t.tolist()\n"
        "while not hook.recorder.recording:\n    pass\nt.item()\n",
        "--start-after", "8",
    )  # fmt: skip
    assert done.status == 0, done.stderr
    assert done.counts()["t.item()"] == 1
    assert done.counts().get("t.tolist()", 0) <= 1  # the one that was under way
    assert done.trace["processes"][0]["wall_ns"] < 8e9


END = "hook._window._ends = 0\nwhile hook.recorder.recording:\n    pass\n"


def test_what_waits_after_the_end_is_left_out(trace):
    done = trace(HOOK + f"t.item()\n{END}t.tolist()\nprint('went on')\n", "--for", "1000")
    assert (done.status, done.stdout) == (0, "went on\n")
    assert done.counts() == {"t.item()": 1}


def test_steps_count_only_while_it_is_traced(run_trace, program):
    program("def step(t):\n    t.item()\n", "work.py")
    source = (
        HOOK
        + f"import work\nfor _ in range(3):\n    work.step(t)\n{END}for _ in range(50):\n    work.step(t)\n"
    )
    done = run_trace([sys.executable, program(source)], ("--for", "1000", "--step", "work:step"))
    assert (done.trace["steps"]["started"], done.trace["steps"]["steady"]) == (3, 3)
    assert done.site("t.item()")["per_step"] == 1


def test_cuda_that_starts_after_the_end_is_said(trace):
    done = trace("import torch\ntorch.zeros(1).item()\n", "--for", "0")
    assert done.status == 0
    assert "it started CUDA after the time that was to be traced" in done.stderr
    assert done.sites == []


@pytest.fixture
def started(environment, program, tmp_path):
    """Starts a trace of a program that waits for its input: ``started(source, *options)``."""
    running = []

    def start(source: str, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "syncscan", "trace", *options, "--", sys.executable, program(source)]
        process = subprocess.Popen(
            command, env=environment, cwd=tmp_path, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=foreground,
        )  # fmt: skip
        running.append(process)
        alarm = threading.Timer(60, process.kill)  # a hanging test fails
        alarm.start()
        running.append(alarm)
        return process

    yield start
    for process in running:
        if isinstance(process, threading.Timer):
            process.cancel()
        else:
            process.kill()
            process.communicate()


def read_until(stream, text: str) -> list[str]:
    lines = []
    for line in stream:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(lines)


def test_the_report_comes_at_the_end_of_what_is_traced_and_once(started, tmp_path):
    process = started(
        "input()\nprint('ended')\nraise SystemExit(3)\n", "--for", "0.1", "-o", str(tmp_path / "kept")
    )
    read_until(process.stderr, "syncscan: nothing was traced")
    out, err = process.communicate("\n")
    assert (out, process.returncode) == ("ended\n", 3)
    assert "nothing was traced" not in err
    assert (tmp_path / "kept" / "trace.json").exists()


INTERRUPTED = """
import torch
torch.zeros(1).item()
try:
    print("ready", flush=True)
    input()
except KeyboardInterrupt:
    print("shutting down", input(), flush=True)
"""


def test_an_interrupted_command_that_takes_long_is_reported_on_and_left_alone(started):
    process = started(INTERRUPTED, "--for", "1000")
    read_until(process.stdout, "ready")
    process.send_signal(signal.SIGINT)
    read_until(process.stderr, "syncscan: ")  # what was written by then
    out, err = process.communicate("slowly\n")
    assert (out, process.returncode) == ("shutting down slowly\n", 0)
    assert "was blocked 1 time at 1 site" in err  # at its end again, whole
    assert err.endswith("ended with exit status 0\n")


def test_a_live_view_needs_a_terminal(environment, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", "--live", "--", "true"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "syncscan: --live draws on the terminal, and there is none; leave it out\n"
