"""What a person reads of a trace: steps first, a row a place, paths whole."""

from __future__ import annotations

import json
import sys

import pytest

SERVER = """
import torch

class Server:
    def __init__(self):
        self.t = torch.zeros(1)

    def step(self):
        self.t.add()

    def read(self):
        self.t.item()
"""


@pytest.fixture
def serve(run_trace, program):
    """Traces a program that imports the server."""
    program(SERVER, "server.py")

    def run(source: str, *options: str):
        return run_trace([sys.executable, program("from server import *\ns = Server()\n" + source)], options)

    return run


def shown(done, text: str) -> list[str]:
    return [line for line in done.stderr.splitlines() if text in line]


def test_a_step_that_never_waits_is_the_first_thing_said(serve):
    done = serve(
        "s.read()\nfor _ in range(6):\n    s.step()\n", "--step", "server:Server.step", "--warmup", "2"
    )
    first, *rest = done.stderr.splitlines()
    assert first == "syncscan: 0 syncs in 4 steady steps of server:Server.step in 1 process"
    assert rest[0] == "outside the steady state:"
    assert rest[1].startswith("  start-up and other phases: 1 sync at 1 site, blocked ")
    assert rest[1].endswith(", at server.py:12 (1)")


def test_steps_come_first_and_all_else_apart(serve):
    done = serve(
        "s.t.tolist()\nfor _ in range(6):\n    s.read()\n", "--step", "server:Server.read", "--warmup", "2"
    )
    lines = done.stderr.splitlines()
    assert lines[0].startswith(
        "syncscan: 4 syncs in 4 steady steps of server:Server.read, 1 per step; a step of "
    )
    assert lines[1].split()[:6] == ["per", "step", "blocked", "of", "step", "code"]
    assert lines[2].split()[0] == "1"
    assert lines[2].endswith(" server.py:12 in Server.read")
    assert shown(done, "  warm-up: 2 syncs at 1 site, blocked ")
    assert shown(done, "  start-up and other phases: 1 sync at 1 site, blocked ")
    assert "6 steps of server:Server.read; the first 2 of a process are warm-up" in lines


def test_a_place_is_one_row_whatever_its_phases(serve):
    done = serve(
        "s.read()\ntorch.cuda.synchronize()\nfor _ in range(6):\n    s.read()\n",
        "--step", "server:Server.read", "--warmup", "2", "--detector", "cupti",
    )  # fmt: skip
    assert {site["phase"] for site in done.sites if site["line"] == 12} == {"warmup", "steady"}
    assert len(shown(done, "server.py:12 in ")) == 1
    done = serve("for _ in range(3):\n    s.read()\n")
    assert len(shown(done, "server.py:12 in ")) == 1


def test_a_step_that_was_never_called_is_said(serve):
    done = serve("s.read()\n", "--step", "server:Server.step")
    assert "0 steps of server:Server.step: is it the function that runs each step?" in done.stderr
    assert shown(done, "was blocked 1 time at 1 site")


def test_without_a_step_the_function_that_repeats_is_proposed(serve):
    done = serve("s.read()\n\ndef serve():\n    for _ in range(6):\n        s.read()\n\nserve()\n")
    assert done.trace["proposed_step"] == {
        "target": "server:Server.read",
        "waits": 6,
        "path": done.trace["proposed_step"]["path"],
        "line": 7,
    }
    assert shown(
        done,
        "to count by step: --step server:Server.read, which the loop at program.py:7 calls (6 of 7 syncs",
    )
    again = serve(
        "def serve():\n    for _ in range(6):\n        s.read()\nserve()\n", "--step", "server:Server.read"
    )
    assert again.trace["steps"]["steady"] == 6  # what is proposed can be given
    assert not shown(again, "to count by step")


EPOCHS = """
def batch():
    s.t.item()

def epoch():
    for _ in range(5):
        batch()

for _ in range(4):
    epoch()
"""


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (EPOCHS, "__main__:batch"),  # all waits of an epoch are in its batches
        ("def work():\n    s.t.item()\nwork()\nwork()\nwork()\n", None),  # no loop
        ("for _ in range(9):\n    s.t.item()\n", None),  # and no function
        ("def one():\n    s.t.item()\nfor _ in range(2):\n    one()\n", None),  # twice is no loop of steps
        (
            """
def part():
    s.t.item()
def step():
    s.t.tolist()
    for _ in range(4):
        part()
for _ in range(6):
    step()
""",
            "__main__:step",  # and not what a loop inside of it calls
        ),
    ],
)
def test_what_is_proposed_is_the_outermost_function_known_to_repeat(serve, source, target):
    proposed = serve(source).trace["proposed_step"]
    assert (proposed and proposed["target"]) == target


@pytest.mark.parametrize("file", ["jobs/run.py", "jobs/__main__.py"])
def test_what_is_proposed_of_a_module_that_is_run_can_be_given(run_trace, program, tmp_path, file):
    (tmp_path / "jobs").mkdir()
    program(SERVER, "server.py")
    source = "from server import *\ndef one(): s.read()\ns = Server()\nfor _ in range(6):\n    one()\n"
    program(source, file)
    command = [sys.executable, "-W", "error", "-m", file.removesuffix("/__main__.py").removesuffix(".py").replace("/", ".")]  # fmt: skip
    proposed = run_trace(command).trace["proposed_step"]["target"]
    assert proposed == "__main__:one"
    assert run_trace(command, ("--step", proposed)).trace["steps"]["started"] == 6


def test_a_path_is_never_broken(serve, environment):
    environment["COLUMNS"] = "40"
    done = serve("s.read()\n")
    assert shown(done, "server.py:12 in Server.read")
    environment["COLUMNS"] = "20"
    long = "a_long_name_" * 6
    done = serve(f"import os, sys\nos.mkdir('{long}')\nopen('{long}/{long}.py', 'w').write('def f(t): t.item()')\n"
                 f"sys.path.insert(0, '{long}')\nimport {long}\n{long}.f(s.t)\n")  # fmt: skip
    assert shown(done, f"{long}/{long}.py:1 in f")


def test_a_file_of_a_package_is_told_from_the_package_on(serve, tmp_path):
    folder = tmp_path / "env/lib/python3.12/site-packages/engine/worker"
    folder.mkdir(parents=True)
    (folder / "runner.py").write_text("def run(t):\n    t.item()\n")
    path = str(folder.parents[1])
    done = serve(
        f"import sys\nsys.path.insert(0, {path!r})\nfrom engine.worker import runner\nrunner.run(s.t)\n"
    )
    assert shown(done, " engine/worker/runner.py:2 in run")
    assert done.site("t.item()")["path"] == str(folder / "runner.py")


def test_of_a_statement_with_a_body_the_head_is_shown(serve):
    done = serve(
        """
class Manager:
    def __enter__(self): pass
    def __exit__(self, *_): s.t.item()
    __bool__ = __enter__
class Read:
    __exit__ = torch.Tensor(0.0).item
import functools
with (
    Manager()
):
    print(
        "body")
"""
    )
    done.site("s.t.item()")
    assert "body" not in done.stderr


@pytest.mark.parametrize(
    ("lines", "shown_lines"),
    [
        (["with a(b[1:2]) as c:", "    d()"], ["with a(b[1:2]) as c:"]),
        (["if (lambda: x)():", "    d()"], ["if (lambda: x)():"]),
        (["if lambda: x:", "    d()"], ["if lambda: x:"]),
        (["if (a and", "    b): c()", "else: d"], ["if (a and", "    b):"]),
        (["async with a:", "    d"], ["async with a:"]),
        (["a(", "    b)"], ["a(", "    b)"]),
        (["x", ".item()"], ["x", ".item()"]),
        (["iffy[1:2]"], ["iffy[1:2]"]),
        (["while ("], ["while ("]),
    ],
)
def test_the_head_of_a_statement(lines, shown_lines):
    from syncscan.trace.sites import head  # noqa: PLC0415

    assert head(lines) == shown_lines


def test_a_trace_of_before_these_fields_is_shown(serve, syncscan):
    done = serve("for _ in range(3):\n    s.read()\n", "--step", "server:Server.read")
    text = syncscan("trace", "report", done.folder).stdout
    for site in done.sites:
        del site["step_spread"], site["starved_ns"], site["rank_ns"], site["blocked_ns"]["histogram"]
    del done.trace["proposed_step"], done.trace["timeline"], done.trace["starved_check"]
    (done.folder / "trace.json").write_text(json.dumps(done.trace))
    again = syncscan("trace", "report", done.folder)
    assert (again.status, again.stdout, again.stderr) == (0, text, "")


def test_how_much_steps_differ_is_kept(serve, program):
    program("def step(n, t):\n    for _ in range(n): t.item()\n", "work.py")
    done = serve("from work import step\nfor n in (0, 2, 2, 4):\n    step(n, s.t)\n", "--step", "work:step")
    site = done.site("t.item()")
    assert site["per_step"] == 2
    assert site["step_spread"]["syncs"] == pytest.approx(2**0.5)


def test_what_a_line_reads_and_what_it_writes_are_told_apart(run_syncscan, program):
    source = """
import torch
x = torch.zeros(8, device="cuda")
m = x > 0
x[m] = x[m] + 1
x.sum().item()
"""
    done = run_syncscan("trace", "--simulate", "--", sys.executable, program(source))
    places = [line.split()[2] for line in done.stderr.splitlines() if "SYN" in line]
    assert sorted(place.partition(".py:")[2] for place in places) == ["5:1", "5:8", "6"]


CELLS = """
import linecache, torch
t = torch.zeros(1)
def run(text, name, entry):
    linecache.cache[name] = entry
    exec(compile(text, name, "exec"), globals())
cell = "def total(t):\\n    return t.item()\\ntotal(t)\\n"
run(cell, "/tmp/ipykernel_9/1.py", (len(cell), None, cell.splitlines(True), "/tmp/ipykernel_9/1.py"))
run("t.tolist()", "<lazy>", (lambda: "t.tolist()",))
run("t.item()", "<odd>", (7, None, [t, 3], "<odd>"))
for again in ("pass; t.item()", "t.tolist()"):
    run(again, "<input>", (9, None, [again], "<input>"))
run("t.item()", "<other>", (9, None, [chr(0xd800) + "=t.item()"], "<other>"))
"""


def test_a_cell_of_a_notebook_has_its_expression_and_code(trace):
    done = trace(CELLS)
    assert done.status == 0, done.stderr
    (cell,) = [site for site in done.sites if site["path"] == "/tmp/ipykernel_9/1.py"]
    assert (cell["line"], cell["expression"], cell["code"]) == (2, "t.item()", "SYN101")
    (line,) = [site for site in done.sites if site["path"] != cell["path"]]
    program = CELLS.splitlines().index('    exec(compile(text, name, "exec"), globals())') + 1
    assert (line["line"], line["count"]) == (program, 5), "texts that are not at hand are generated code"
