"""``trace --lines``: which lines ran, each recorded once."""

from __future__ import annotations

import json
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
    assert done.trace["callees"] == done.trace["callers"] == {}  # nobody asked for calls
    assert [path for path in done.trace["lines"] if "/torch/" in path or "_syncscan_hook" in path] == []


IN_A_CHILD = """\
import glob, os, sys
import torch


def before():
    return len("")


def after():
    return abs(0)


flush = sys.modules["_syncscan_hook.start"].hook.flush
before()
flush()
child = os.fork()
if child == 0:
    after()
    flush()
    [part] = glob.glob(os.environ["SYNCSCAN_TRACE"] + f"/{os.getpid()}-*")
    with open(part) as stream:
        print(stream.read(), end="")
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_child_writes_only_what_its_parent_has_not(run_trace, program):
    path = program(IN_A_CHILD)
    done = run_trace([interpreter("3.12"), path], ("--calls",))
    assert done.status == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    written = {
        kind: {
            row if kind == "lines" else row[0] for record in records for row in own_rows(record, kind, path)
        }
        for kind in ("lines", "callees", "callers")
    }
    assert {10, 19} <= written["lines"]
    assert (10 in written["callees"], 9 in written["callers"]) == (True, True)
    assert [6 in each for each in written.values()] == [False] * 3
    assert {5, 6, 9, 10} <= lines_of(done.trace, path)


def own_rows(record, kind, path):
    """Return the rows of one kind in a record of a part of a trace, where they are about a file."""
    about, rows = record.get(kind, ("", []))
    return rows if about == str(path) else []


def test_lines_that_ran_before_torch_was_there_are_kept(run_trace, program):
    path = program("import settings\nimport torch\n")
    (path.parent / "settings.py").write_text("flag = 1\n", encoding="utf-8")
    done = run_trace([interpreter("3.12"), path], ("--lines",))
    assert lines_of(done.trace, path) == {1, 2}
    assert lines_of(done.trace, path.parent / "settings.py") == {1}
    assert [path for path in done.trace["lines"] if "sitecustomize" in path] == []


CALLS = """\
import functools
import torch

class Layer:
    def __call__(self, x):
        return x.upper()

def hidden(x):
    return sorted(x, key=lambda c: ord(c))

def never():
    return len("")

layer = Layer()
layer("a")
partial = functools.partial(hidden, "ab")
partial()
any(hidden(c) for c in "ab")
for _ in range(400):
    hidden("")
"""


def test_what_each_call_ran_is_kept(run_trace, program):
    path = program(CALLS)
    done = run_trace([interpreter("3.12"), path], ("--calls",))
    assert done.status == 0, done.stderr
    assert lines_of(done.trace, path)
    names = {(line, column): names for line, column, *_, names in done.trace["callees"][str(path)]}
    assert names[5 + 1, 15] == ["builtins.str.upper"]
    assert (names[9, 11], names[15, 0]) == (["*", "builtins.sorted"], ["__main__.Layer.__call__"])
    assert (names[17, 0], names[20, 4]) == (["functools.partial.__call__"], ["*", "__main__.hidden"])
    assert (12, 11) not in names
    rows = {tuple(row) for row in done.trace["callers"][str(path)]}
    here = str(path)
    assert {(5, here, 1, 15), (8, here, 1, 17), (9, here, 8, 9), (8, here, 18, 18), (18, here, 1, 18)} <= rows
    assert (8, "*", 0, 0) in rows  # it ran too often to tell from where
    assert [row for row in rows if row[0] == 11] == []


@pytest.mark.parametrize(
    ("start", "option"), [("python", "--lines"), ("script", "--calls"), ("env", "--lines")]
)
def test_an_older_python_is_told_before_the_run_and_the_rest_is_traced(
    run_trace, program, environment, tmp_path, start, option
):
    python = interpreter("3.10")
    source = "import sys, torch\nprint('begun', file=sys.stderr)\ntorch.zeros(1).item()\n"
    shebang = {"python": "", "script": f"#!{python}\n", "env": "#!/usr/bin/env python3.10\n"}[start]
    script = program(shebang + source)
    script.chmod(0o700)
    (tmp_path / "python3.10").symlink_to(python)
    path = os.pathsep.join([str(tmp_path), environment.get("PATH", "")])
    done = run_trace([python, script] if start == "python" else [script], (option,), PATH=path)
    assert done.status == 0
    before, _, _ = done.stderr.partition("begun")
    assert before.startswith(f"syncscan: {option} needs Python 3.12 or newer: ")
    assert before.endswith(" runs 3.10, so no lines are recorded\n")
    assert f"{option}: needs Python 3.12 or newer" in done.stderr
    assert done.trace["lines"] is None
    assert done.counts() == {"torch.zeros(1).item()": 1}
