"""Closed, full and abandoned streams: the program has those that it would have alone, and keeps its exit status."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

CLOSED = ["", "<&-", ">&-", "2>&-", "<&- >&- 2>&-", "3</dev/null <&-"]
TRACE = [sys.executable, "-m", "syncscan", "trace"]


@pytest.fixture
def shell(environment, tmp_path):
    """Runs a line of a shell in a scratch folder."""

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.parametrize("streams", CLOSED)
def test_the_program_has_the_descriptors_that_it_would_have_alone(shell, tmp_path, streams):
    command = "sh -c 'cd /proc/self/fd && ls > " + str(tmp_path) + "/$0'"
    shell(f"{command} alone {streams}")
    shell(f"{shlex.join(TRACE)} -- {command} traced {streams}")
    assert (tmp_path / "alone").read_text() == (tmp_path / "traced").read_text() != ""


@pytest.mark.parametrize(
    ("format_", "streams"),
    [
        *(("text", streams) for streams in (*CLOSED[1:5], "2>/dev/full", ">/dev/full 2>&1", "2> >(:)")),
        *(("json", streams) for streams in (">&-", ">/dev/full", "> >(:)")),
    ],
)
@pytest.mark.parametrize("status", [0, 3])
def test_the_status_of_the_program_stays(shell, streams, status, format_):
    done = shell(f"{shlex.join(TRACE)} --output-format {format_} -- sh -c 'exit {status}' {streams}")
    assert done.returncode == status
    assert "Traceback" not in done.stderr


def test_a_report_that_cannot_be_printed_is_one_line(shell):
    done = shell(f"{shlex.join(TRACE)} --output-format json -- true >/dev/full")
    assert (done.returncode, done.stderr) == (0, "syncscan: the output: no space left on device\n")


def test_a_broken_limit_is_told_also_where_the_report_is_lost(shell, program, tmp_path):
    program("import torch\ndef step():\n    torch.zeros(1).item()\nfor _ in range(3):\n    step()\n")
    options = "--output-format json --step __main__:step --max-syncs-per-step 0"
    done = shell(f"{shlex.join(TRACE)} {options} -- {sys.executable} program.py >/dev/full")
    assert done.returncode == 1


FILLS_DISK = """\
import os, torch
t = torch.zeros(1)
with open(os.environ["DISK"] + "/filler", "wb", buffering=0) as filler:
    while True:
        try:
            filler.write(bytes(512))
        except OSError:
            break
for n in range(300):
    exec(f"def function_{n}():\\n    t.item()\\nfunction_{n}()")
print("written")
raise SystemExit(3)
"""


def test_a_program_that_fills_the_disk_of_its_trace_runs_on_and_the_loss_is_reported(
    shell, program, small_disk
):
    program(FILLS_DISK)
    done = shell(f"DISK={small_disk} {shlex.join(TRACE)} -o {small_disk}/kept -- {sys.executable} program.py")
    assert (done.returncode, done.stdout) == (3, "written\n")
    lost = f"syncscan: {small_disk}/kept: no space left on device: what ran last may be missing\n"
    assert done.stderr.startswith(lost)
    assert "Traceback" not in done.stderr


def test_a_trace_that_cannot_be_kept_leaves_what_the_program_wrote(shell, program, tmp_path):
    """The program fills the disk of its trace: here, by putting a folder where the trace would lie."""
    program("import os, torch\ntorch.zeros(1).item()\nos.mkdir('kept/trace.json')\nraise SystemExit(3)\n")
    done = shell(f"{shlex.join(TRACE)} -o kept -- {sys.executable} program.py")
    assert done.returncode == 3
    assert done.stderr == "syncscan: kept/trace.json: is a directory\n"
    (tmp_path / "kept" / "trace.json").rmdir()
    report = shell(f"{sys.executable} -m syncscan trace report kept")
    assert "was blocked 1 time" in report.stdout
