"""The hook runs in the program's Python, which may be another than that of syncscan: from 3.9 on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

VERSIONS = ("3.9", "3.10", "3.12", "3.13", "3.14")

PROGRAM = """\
import os, pickle, sys, threading
import torch

print("%d.%d" % sys.version_info[:2], os.execve in os.supports_fd, pickle.loads(pickle.dumps(os._exit)) is os._exit)
os.closerange(3, 100)
mine = open("mine", "w")


class Worker:
    def step(self):
        torch.zeros(1).item()
        return self.read()

    def read(self):
        return torch.zeros(2).tolist()


child = os.fork()
thread = threading.Thread(target=Worker().step)
thread.start()
thread.join()
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]), mine.fileno())
"""


def interpreter(version: str) -> str:
    """Some Python of this version, of the system or of pyenv."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = str(installed[-1]) if installed else shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"there is no Python {version} here")
    return found


@pytest.mark.parametrize("detector", ["cupti", "debug-mode"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_program_is_traced_under_its_own_python(run_trace, program, tmp_path, version, detector):
    command = [interpreter(version), program(PROGRAM)]
    done = run_trace(command, ("--detector", detector, "--step", "__main__:Worker.read"))
    assert (done.status, done.stdout) == (0, f"{version} True True\n0 3\n"), done.stderr
    assert (tmp_path / "mine").read_text() == ""
    assert "Traceback" not in done.stderr
    waits = {PROGRAM.splitlines()[site["line"] - 1].strip(): site for site in done.sites}
    assert {line: (site["count"], site["in_step"]) for line, site in waits.items()} == {
        "torch.zeros(1).item()": (2, False),
        "return torch.zeros(2).tolist()": (2, True),
    }
    assert [process["detectors"] for process in done.trace["processes"]] == [[detector]] * 2
    assert [process["notes"] for process in done.trace["processes"]] == [[], []]


def test_a_python_that_is_too_old_runs_as_alone(run_trace, program):
    old = [path for path in (*Path.home().glob(".pyenv/versions/*/bin/python"),) if is_old(path)]
    if not old:
        pytest.skip("there is no Python before 3.9 here")
    for python in old:
        script = program("import sys\nprint('sitecustomize' in sys.modules)\n")
        done = run_trace([os.fspath(python), script], PYTHONDONTWRITEBYTECODE="1")
        assert (done.status, done.stdout) == (0, "False\n")
        assert done.stderr.startswith("syncscan: nothing was traced")


def is_old(python: Path) -> bool:
    major, minor = python.parents[1].name.split(".")[:2]
    return (int(major), int(minor)) < (3, 9)
