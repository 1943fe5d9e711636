"""``trace --lines``: which lines ran, each recorded once."""

from __future__ import annotations

import os

import pytest
from test_pythons import interpreter

PROGRAM = """\
import os
import torch


def used(x):
    if x:
        return x
    return None


def unused(x):
    return (
        x
    )


def looped():
    for _ in range(3):
        used(1)


looped()
child = os.fork()
if child == 0:
    used(0)
    os._exit(0)
os.waitpid(child, 0)
print(sum(1 for _ in range(2)))
"""


def lines_of(trace, path):
    ranges = trace["lines"][str(path)]
    return {number for first, last in ranges for number in range(first, last + 1)}


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_the_lines_that_ran_are_kept(run_trace, program, version):
    path = program(PROGRAM)
    done = run_trace([interpreter(version), path], ("--lines",))
    assert (done.status, done.stdout) == (0, "2\n"), done.stderr
    ran = lines_of(done.trace, path)
    assert {6, 7, 8, 18, 19, 22, 23, 24, 25, 26, 27, 28} <= ran  # line 8 in the child alone
    assert ran.isdisjoint({12, 13})
    assert [path for path in done.trace["lines"] if "/torch/" in path or "_syncscan_hook" in path] == []


def test_lines_that_ran_before_torch_was_there_are_kept(run_trace, program):
    path = program("import settings\nimport torch\n")
    (path.parent / "settings.py").write_text("flag = 1\n", encoding="utf-8")
    done = run_trace([interpreter("3.12"), path], ("--lines",))
    assert lines_of(done.trace, path) == {1, 2}
    assert lines_of(done.trace, path.parent / "settings.py") == {1}
    assert [path for path in done.trace["lines"] if "sitecustomize" in path] == []


@pytest.mark.parametrize("start", ["python", "script", "env"])
def test_an_older_python_is_told_before_the_run_and_the_rest_is_traced(
    run_trace, program, environment, tmp_path, start
):
    python = interpreter("3.10")
    source = "import sys, torch\nprint('begun', file=sys.stderr)\ntorch.zeros(1).item()\n"
    shebang = {"python": "", "script": f"#!{python}\n", "env": "#!/usr/bin/env python3.10\n"}[start]
    script = program(shebang + source)
    script.chmod(0o700)
    (tmp_path / "python3.10").symlink_to(python)
    path = os.pathsep.join([str(tmp_path), environment.get("PATH", "")])
    done = run_trace([python, script] if start == "python" else [script], ("--lines",), PATH=path)
    assert done.status == 0
    before, _, _ = done.stderr.partition("begun")
    assert before.startswith("syncscan: --lines needs Python 3.12 or newer: ")
    assert before.endswith(" runs 3.10, so no lines are recorded\n")
    assert "--lines: needs Python 3.12 or newer" in done.stderr
    assert done.trace["lines"] is None
    assert done.counts() == {"torch.zeros(1).item()": 1}
