"""Steps, warm-up, phases, and the gates over them."""

from __future__ import annotations

import sys

import pytest
from test_pythons import interpreter

SERVER = """
import torch

class Server:
    def __init__(self):
        self.t = torch.zeros(1)
        self.number = 0

    def step(self):
        self.number += 1
        self.t.item()
        if self.number == 7:
            self.t.tolist()

    @staticmethod
    def static(t):
        t.item()

    @classmethod
    def made(cls, t):
        t.item()

    async def coroutine(self):
        self.t.item()

    @staticmethod
    def generator(t):
        yield t.item()

    async def stream(self):
        yield self.t.item()

def function(t):
    t.item()
    if t:
        function(None)
"""


@pytest.fixture
def serve(run_trace, program):
    """Traces a program that imports the server."""
    program(SERVER, "server.py")

    def run(source: str, *options: str):
        return run_trace([sys.executable, program("from server import *\n" + source)], options)

    return run


def test_waits_are_counted_per_step_without_the_warm_up(serve):
    source = "s = Server()\ns.t.item()\nfor _ in range(10):\n    s.step()\n"
    done = serve(source, "--step", "server:Server.step", "--warmup", "2")
    steady = done.site("self.t.item()", phase="steady")
    assert (steady["count"], steady["per_step"]) == (8, 1.0)
    assert done.site("self.t.item()", phase="warmup")["count"] == 2
    assert done.site("self.t.tolist()")["per_step"] == 1 / 8
    assert done.site("s.t.item()")["per_step"] is None
    assert done.trace["steps"]["started"] == 10
    assert done.trace["steps"]["steady"] == 8
    assert "10 steps of server:Server.step; the first 2 of a process are warm-up" in done.stderr


@pytest.mark.parametrize(
    ("target", "call"),
    [
        ("Server.static", "Server.static(t)"),
        ("Server.made", "Server.made(t)"),
        ("Server.coroutine", "asyncio.run(Server().coroutine())"),
        ("function", "function(t)"),
    ],
)
def test_any_kind_of_function_can_be_the_step(serve, target, call):
    source = f"import asyncio\nt = torch.zeros(1)\nt.__class__.__bool__ = lambda t: False\nfor _ in range(3):\n    {call}\n"
    done = serve(source, "--step", f"server:{target}")
    assert done.trace["steps"]["steady"] == 3
    assert [site["per_step"] for site in done.sites if site["in_step"]] == [1.0]


def test_a_step_of_the_script_itself(trace):
    done = trace(
        """
        import torch
        def step(t):
            t.item()
        t = torch.zeros(1)
        for _ in range(5):
            step(t)
        """,
        "--step",
        "__main__:step",
    )
    assert done.site("t.item()")["per_step"] == 1.0
    assert done.trace["steps"]["steady"] == 5


@pytest.mark.parametrize("target", ["Server.generator", "Server.stream"])
def test_a_generator_is_no_step(serve, target):
    source = "t = torch.zeros(1)\nfor _ in Server.generator(t):\n    t.tolist()\n"
    done = serve(source, "--step", f"server:{target}", "--max-syncs-per-step", "5")
    assert done.status == 1
    assert done.trace["steps"]["started"] == 0
    assert (
        f"--step: server:{target} is a generator, whose calls are no steps: name what it calls" in done.stderr
    )


LATE = """
import torch
t = torch.zeros(1)
{definition}
for _ in range(4):
    {call}
import sys
monitoring = getattr(sys, "monitoring", None)
print(sys.gettrace(), sum(monitoring.get_tool(n) is not None for n in range(6)) if monitoring else 0)
"""
DEFINITIONS = {
    "function": ("def step(t): t.item()", "step", "step(t)"),
    "method": (
        "class Server:\n    def step(self): t.item()\nserver = Server()",
        "Server.step",
        "server.step()",
    ),
    "static": (
        "class Server:\n    @staticmethod\n    def step(t): t.item()",
        "Server.step",
        "Server.step(t)",
    ),
    "replaced": (
        "def step(t): t.item()\ninner = step\nstep = lambda t: t.item()",
        "step",
        "step(t)",
    ),
    "decorated": (
        "def step(t): t.item()\nimport functools\nstep = functools.lru_cache(0)(step)",
        "step",
        "step(t)",
    ),
}


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.12", "3.13"])
@pytest.mark.parametrize("kind", DEFINITIONS)
def test_a_step_that_is_defined_after_cuda_started_counts_from_its_first_call(
    run_trace, program, kind, version
):
    definition, target, call = DEFINITIONS[kind]
    python = sys.executable if version == "3.11" else interpreter(version)
    script = program(LATE.format(definition=definition, call=call))
    done = run_trace([python, script], ("--step", f"__main__:{target}", "--max-syncs-per-step", "0"))
    assert (done.status, done.stdout) == (1, "None 0\n"), done.stderr
    assert (done.trace["steps"]["started"], done.trace["steps"]["steady"]) == (4, 4)
    assert [site["per_step"] for site in done.sites] == [1.0]
    assert done.trace["processes"][0]["notes"] == []


def test_a_step_of_a_script_that_a_debugger_follows_is_found_late_and_that_is_said(trace):
    done = trace(
        """
        import sys
        sys.settrace(lambda *_: None)
        import torch
        t = torch.zeros(1)
        def step(t):
            t.item()
        for _ in range(4):
            step(t)
        """,
        "--step",
        "__main__:step",
        "--max-syncs-per-step",
        "0",
    )
    assert done.status == 1
    if not hasattr(sys, "monitoring"):
        assert "--step: __main__:step was defined after CUDA started" in done.stderr
        assert "put it into a module, or start CUDA later" in " ".join(done.stderr.split())


def test_a_step_of_a_module_that_is_run(run_trace, program):
    program("import torch\ndef step(t):\n    t.item()\nt = torch.zeros(1)\nstep(t)\nstep(t)\n", "server.py")
    done = run_trace([sys.executable, "-m", "server"], ("--step", "server:step"))
    assert done.site("t.item()")["per_step"] == 1.0
    assert done.trace["steps"]["steady"] == 2


def test_steps_that_overlap_in_threads_share_their_waits(serve):
    done = serve(
        """
import threading
t = torch.zeros(1)
both = threading.Barrier(2)
function.__globals__["wait"] = both.wait
def work():
    Server.static(t)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""",
        "--step",
        "server:Server.static",
        "--max-syncs-per-step",
        "1",
    )
    assert done.status == 0
    assert done.site("t.item()")["per_step"] == 1.0


GATED = "s = Server()\nfor _ in range(10):\n    s.step()\n"


def test_a_limit_is_kept_or_broken_by_the_worst_step(serve):
    done = serve(GATED, "--step", "server:Server.step", "--max-syncs-per-step", "1")
    assert done.status == 1
    assert "syncscan: 2 syncs per step, the limit is 1: " in done.stderr
    assert "server.py:11 (1)" in done.stderr
    assert "server.py:13 (1)" in done.stderr
    done = serve(GATED, "--step", "server:Server.step", "--max-syncs-per-step", "2")
    assert done.status == 0


def test_a_limit_on_blocked_time(serve):
    done = serve(GATED, "--step", "server:Server.step", "--max-blocked-ms-per-step", "0.01")
    assert done.status == 1
    assert "ms blocked per step, the limit is 0.01: " in done.stderr
    done = serve(GATED, "--step", "server:Server.step", "--max-blocked-ms-per-step", "5000")
    assert done.status == 0


def test_a_limit_never_hides_a_failing_command(serve):
    done = serve(GATED + "raise SystemExit(9)\n", "--step", "server:Server.step", "--max-syncs-per-step", "0")
    assert done.status == 9
    assert "the limit is 0" in done.stderr


def test_a_limit_without_any_step_fails(serve):
    done = serve("torch.zeros(1)\n", "--step", "server:Server.step", "--max-syncs-per-step", "5")
    assert done.status == 1
    assert "no step was seen" in done.stderr


def test_a_limit_with_nothing_but_warm_up_fails(serve):
    options = ("--step", "server:Server.step", "--warmup", "50", "--max-syncs-per-step", "5")
    done = serve(GATED, *options)
    assert done.status == 1
    said = "no step ended after the warm-up, so the limit is not checked: 10 steps began, --warmup is 50"
    assert f"syncscan: {said}\n" in done.stderr


def test_a_step_that_does_not_exist_is_said(serve):
    done = serve("torch.zeros(1).item()\n", "--step", "server:Server.stepp")
    assert done.status == 0
    assert "--step: server has no Server.stepp" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--warmup", "3"], "name them with --step PKG.MOD:CLASS.METHOD"),
        (["--max-syncs-per-step", "1"], "name them with --step PKG.MOD:CLASS.METHOD"),
        (["--step", "server.Server.step"], "write PKG.MOD:FUNCTION or PKG.MOD:CLASS.METHOD"),
        (["--step", "server:"], "write PKG.MOD:FUNCTION or PKG.MOD:CLASS.METHOD"),
        (["--detector", "nvprof"], "is not one of"),
        (["--step", "m:f", "--max-syncs-per-step", "nan"], "nan is not a number from 0 on"),
        (["--step", "m:f", "--max-blocked-ms-per-step", "NaN"], "NaN is not a number from 0 on"),
        (["--step", "m:f", "--max-syncs-per-step", "-1"], "-1 is not a number from 0 on"),
        (["--step", "m:f", "--max-syncs-per-step", "few"], "few is not a number from 0 on"),
        (["--include", ""], "'--include': it is empty"),
        (["--kernels", "zeros"], "--kernels chooses what the simulated GPU runs: write --simulate"),
        (["--simulate", "--detector", "cupti"], "--simulate needs no detector; leave --detector out"),
    ],
)
def test_options_that_make_no_sense(run_trace, options, message):
    done = run_trace(["true"], tuple(options))
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


def test_waits_while_compiling_and_capturing_are_told_apart(run_trace, program, tmp_path):
    for folder, name in (("_dynamo", "convert_frame.py"), ("cuda", "graphs.py")):
        (tmp_path / "torch" / folder).mkdir(parents=True)
        program("def run(f):\n    return f()\n", f"torch/{folder}/{name}")
    script = program("""
        import importlib.util, sys
        import torch
        def load(path):
            spec = importlib.util.spec_from_file_location("loaded", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
        t = torch.zeros(1)
        load(sys.path[0] + "/torch/_dynamo/convert_frame.py").run(lambda: t.item())
        load(sys.path[0] + "/torch/cuda/graphs.py").run(lambda: t.item())
        t.item()
    """)
    script = script.rename(tmp_path / "main.py")
    (tmp_path / "torch" / "__init__.py").unlink(missing_ok=True)
    done = run_trace([sys.executable, script])
    assert [site["phase"] for site in sorted(done.sites, key=lambda site: site["line"])] == [
        "compile",
        "capture",
        "steady",
    ]


# CUDA starts after the fork: before, it would not work in the child.
FORK = """
import os, threading
class OnHost:
    def __init__(self, item):
        self.item = item
def steps(number):
    t = torch.zeros(1)
    for _ in range(number):
        Server.static(t)
"""


def test_a_forked_child_counts_its_own_steps_and_its_own_warm_up(serve):
    source = """
for _ in range(3):
    Server.static(OnHost(int))
if not os.fork():
    steps(2)
    os._exit(0)
os.wait()
torch.zeros(1)
"""
    done = serve(FORK + source, "--step", "server:Server.static", "--warmup", "1")
    assert (done.trace["steps"]["started"], done.trace["steps"]["steady"]) == (5, 3)
    assert done.site("t.item()", phase="warmup")["count"] == 1
    assert done.site("t.item()", phase="steady")["per_step"] == 1.0


def test_a_step_that_forks_ends_on_both_sides(serve):
    source = """
def fork():
    if os.fork():
        os.wait()
        torch.zeros(1)
    else:
        thread = threading.Thread(target=steps, args=(4,))
        thread.start()
        thread.join()
        steps(2)
Server.static(OnHost(fork))
"""
    done = serve(FORK + source, "--step", "server:Server.static")
    assert done.status == 0, done.stderr
    assert (done.trace["steps"]["started"], done.trace["steps"]["steady"]) == (7, 7)
    assert done.site("t.item()")["per_step"] == 1.0


def test_a_step_that_was_running_at_the_last_flush_counts(serve):
    source = """
import sys
flush = sys.modules["_syncscan_hook.start"].hook.flush
torch.zeros(1)
Server.static(OnHost(flush))
"""
    done = serve(FORK + source, "--step", "server:Server.static")
    assert (done.trace["steps"]["started"], done.trace["steps"]["steady"]) == (1, 1)


def test_the_first_steps_and_waits_are_kept_in_time(serve):
    source = (
        "import time\nbefore = time.time_ns()\ns = Server()\ns.t.item()\nfor _ in range(3):\n    s.step()\n"
    )
    done = serve(f"{source}print(before, time.time_ns())\n", "--step", "server:Server.step", "--warmup", "1")
    (process,) = done.trace["timeline"]
    before, after = map(int, done.stdout.split())
    assert [step[0] for step in process["steps"]] == ["warmup", "steady", "steady"]
    assert [done.sites[wait[0]]["expression"] for wait in process["waits"]] == [
        "s.t.item()",
        *["self.t.item()"] * 3,
    ]
    times = [time for _, _, start, lasted, *_ in process["steps"] for time in (start, start + lasted)]
    assert before <= times[0] <= times[-1] <= after
    assert times == sorted(times)
    for (_, thread, began, lasted), (_, _, start, whole, waits, blocked) in zip(
        process["waits"][1:], process["steps"], strict=True
    ):
        assert start <= began <= began + lasted <= start + whole
        assert (thread, waits, blocked) == ("MainThread", 1, lasted)


def test_a_timeline_is_bounded_and_has_steady_steps(serve):
    source = "s = Server()\nfor _ in range(800):\n    s.t.item()\nfor _ in range(1200):\n    s.step()\n"
    (process,) = serve(source, "--step", "server:Server.step").trace["timeline"]
    assert (len(process["waits"]), len(process["steps"])) == (1000, 1000)
