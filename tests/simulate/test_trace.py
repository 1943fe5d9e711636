"""A whole command on a simulated GPU: ``syncscan trace --simulate`` and ``pytest --syncscan=simulate``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.warm import Warm

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """\
import multiprocessing, os, sys, threading
import torch


class Runner:
    def __init__(self):
        self.x = torch.ones(4, device="cuda")

    def step(self):
        mask = self.x > 0
        return self.x[mask]  # SYN201


def work():
    return torch.ones(4, device="cuda").sum().item()  # SYN101


if __name__ == "__main__":
    runner = Runner()
    for _ in range(5):
        runner.step()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if os.fork() == 0:
        work()
        os._exit(0)
    os.wait()
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
    torch.cuda.synchronize()  # SYN401
    print(torch.cuda.is_available())
    sys.exit(3)
"""


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(warm: Warm) -> Run:
    """Runs syncscan or pytest."""

    def run(program: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        if program == "syncscan":
            return warm.run(*arguments, cwd=cwd, env=environment)
        return subprocess.run(
            [sys.executable, "-m", program, *map(str, arguments)],
            capture_output=True, text=True, cwd=cwd, env=environment, check=False, timeout=300,
        )  # fmt: skip

    return run


def test_a_traced_command_has_a_gpu_and_its_waits_have_lines_codes_counts_and_steps(
    tmp_path: Path, run: Run
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    options = ("--simulate", "--step", "__main__:Runner.step", "--warmup", 2, "-o", tmp_path / "out")
    done = run("syncscan", "trace", *options, "--", sys.executable, "program.py", cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("True\n", 3), done.stderr
    assert "3 syncs in 3 steady steps of __main__:Runner.step, 1 per step (a simulated GPU" in done.stderr
    assert "start-up and other phases: 4 syncs at 2 sites" in done.stderr
    trace = json.loads((tmp_path / "out" / "trace.json").read_text(encoding="utf-8"))
    counts: dict[str, int] = {}
    for site in trace["sites"]:
        line = PROGRAM.splitlines()[site["line"] - 1]
        assert line.endswith(f"# {site['code']}")
        assert site["detectors"] == ["simulated"]
        assert site["blocked_ns"]["total"] == 0
        if site["phase"] != "warmup":
            counts[site["code"]] = counts.get(site["code"], 0) + site["count"]
    assert counts == {"SYN101": 3, "SYN201": 3, "SYN401": 1}
    assert {
        site["per_step"] for site in trace["sites"] if site["phase"] == "steady" and site["code"] == "SYN201"
    } == {1}


def test_the_gate_works_without_a_gpu(tmp_path: Path, run: Run) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("sys.exit(3)", ""), encoding="utf-8")
    options = ("--simulate", "--step", "__main__:Runner.step", "--max-syncs-per-step", 0)
    done = run("syncscan", "trace", *options, "--", sys.executable, "program.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "syncscan: 1 sync per step, the limit is 0: " in done.stderr


def test_a_broken_limit_names_the_costliest_lines_as_the_table_does(tmp_path: Path, run: Run) -> None:
    reads = "".join(f"    x.sum().item(); x.max().item()  # {number}\n" for number in range(7))
    source = f"import torch\nx = torch.ones(4, device='cuda')\ndef step():\n{reads}    x.tolist()\nstep()\n"
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    options = ("--simulate", "--step", "__main__:step", "--max-syncs-per-step", 1)
    done = run("syncscan", "trace", *options, "--", sys.executable, "program.py", cwd=tmp_path)
    lines = ", ".join(f"program.py:{line} (2)" for line in range(4, 9))
    assert done.stderr.splitlines()[-1] == f"syncscan: 15 syncs per step, the limit is 1: {lines} and 3 more"


def test_a_limit_on_time_needs_a_gpu(tmp_path: Path, run: Run) -> None:
    options = ("--simulate", "--step", "m:f", "--max-blocked-ms-per-step", 1)
    done = run("syncscan", "trace", *options, "--", sys.executable, "-c", "", cwd=tmp_path)
    assert done.returncode == 2
    assert "--simulate times nothing: write --max-syncs-per-step" in done.stderr


def test_an_allowed_wait_is_told_without_a_time(tmp_path: Path, run: Run) -> None:
    source = "import torch, syncscan\nwith syncscan.allow_sync('a count'):\n    torch.ones(1, device='cuda').item()\n"
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    done = run("syncscan", "trace", "--simulate", "--", sys.executable, "program.py", cwd=tmp_path)
    assert "\nallowed (a count): 1 time, at program.py:3\n" in done.stderr


def test_a_program_that_leaves_the_simulated_gpu_alone_is_told_so(tmp_path: Path, run: Run) -> None:
    (tmp_path / "program.py").write_text("import torch\ntorch.ones(1).item()\n", encoding="utf-8")
    done = run("syncscan", "trace", "--simulate", "--", sys.executable, "program.py", cwd=tmp_path)
    assert "nothing was traced: the program put nothing on the simulated GPU" in done.stderr


def test_a_torch_that_cannot_be_simulated_is_named(tmp_path: Path, run: Run) -> None:
    (tmp_path / "torch.py").write_text("__version__ = '9'\n", encoding="utf-8")
    done = run(
        "syncscan", "trace", "--simulate", "--", sys.executable, "-c", "import torch; print(1)", cwd=tmp_path
    )
    assert done.stdout == "1\n"
    assert "tracing stops here: there is no simulated GPU for this torch: AttributeError" in done.stderr


TESTS = """\
import pytest
import torch
import syncscan


@pytest.mark.limit_syncs(0)
def test_clean():
    assert (torch.ones(3, device="cuda") + 1).is_cuda


@pytest.mark.limit_syncs(0, warmups=1)
def test_waits():
    torch.ones(3, device="cuda").sum().item()


def test_guards():
    with syncscan.forbid_sync(), pytest.raises(syncscan.SyncError):
        torch.ones(3, device="cuda").tolist()
    with syncscan.count_syncs() as seen:
        with syncscan.allow_sync("it has to"):
            torch.ones(3, device="cuda").tolist()
        torch.ones(3, device="cuda").cpu()
    assert seen.total == 1


def test_a_block_of_its_own():
    with syncscan.simulated_cuda() as seen:
        torch.ones(3, device="cuda").tolist()
    assert len(seen) == 1
"""


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def test_pytest_limits_syncs_without_a_gpu(tests: Path, run: Run) -> None:
    done = run("pytest", "-p", "syncscan.pytest_plugin", "--syncscan=simulate", "-q", cwd=tests)
    assert "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "the CPU was blocked 1 time, the limit is 0" in done.stdout
    assert "test_it.py:13 in test_waits (torch.Tensor.item)" in done.stdout


def test_pytest_simulates_before_conftest_is_imported(tmp_path: Path, run: Run) -> None:
    source = (
        "from torch.cuda import is_available\ndef pytest_report_header(): return f'GPU: {is_available()}'\n"
    )
    (tmp_path / "conftest.py").write_text(source, encoding="utf-8")
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n", encoding="utf-8")
    done = run("pytest", "-p", "syncscan.pytest_plugin", "--syncscan=simulate", cwd=tmp_path)
    assert "GPU: True" in done.stdout, done.stdout + done.stderr


def test_pytest_simulates_where_conftest_loads_the_plugin(tmp_path: Path, run: Run) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["syncscan.pytest_plugin"]\n', encoding="utf-8")
    source = "import torch\ndef test_it(): assert torch.ones(1, device='cuda').is_cuda\n"
    (tmp_path / "test_it.py").write_text(source, encoding="utf-8")
    done = run("pytest", "--syncscan=simulate", cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


RUN_BY_OTHERS = """\
import unittest

import pytest
import torch


class Waits(unittest.TestCase):
    def setUp(self):
        self.x = torch.ones(3, device="cuda")
        self.x.tolist()  # like that of a fixture, none of the test

    @pytest.mark.limit_syncs(0)
    def test_clean(self):
        assert self.x.is_cuda

    @pytest.mark.limit_syncs(0)
    def test_method(self):
        self.x.tolist()

    @pytest.mark.limit_syncs(0)
    def test_assertion(self):
        self.x.tolist()
        self.fail("its own failure")

    @pytest.mark.limit_syncs(0)
    def test_skipped(self):
        self.skipTest("for a reason")


class AsyncWaits(unittest.IsolatedAsyncioTestCase):
    @pytest.mark.limit_syncs(0)
    async def test_async_method(self):
        torch.ones(3, device="cuda").tolist()


@pytest.mark.limit_syncs(1, warmups=1)
async def test_coroutine():
    torch.ones(3, device="cuda").tolist()
    torch.ones(3, device="cuda").tolist()


@pytest.mark.limit_syncs(0)
def test_early():
    torch.ones(3, device="cuda").tolist()
"""

RUNNERS = """\
import asyncio, inspect, threading

taken = {}


def pytest_collection_modifyitems(items):
    taken.update({item: item.obj for item in items if item.name == "test_early"})


def pytest_pyfunc_call(pyfuncitem):
    if pyfuncitem in taken:
        taken[pyfuncitem]()
        return True
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        thread = threading.Thread(target=lambda: asyncio.run(pyfuncitem.obj()))
        thread.start()
        thread.join()
        return True
"""


def test_pytest_limits_test_cases_and_coroutines_too(tmp_path: Path, run: Run) -> None:
    (tmp_path / "test_it.py").write_text(RUN_BY_OTHERS, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(RUNNERS, encoding="utf-8")
    done = run("pytest", "-p", "syncscan.pytest_plugin", "--syncscan=simulate", cwd=tmp_path)
    assert "5 failed, 1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "1 x " + str(tmp_path / "test_it.py") + ":18 in Waits.test_method " in done.stdout
    assert "its own failure" in done.stdout
    assert "the CPU was blocked 2 times, the limit is 1:" in done.stdout
    assert ":38 in test_coroutine " in done.stdout
    cannot = "\nlimit_syncs cannot count the synchronizations of this test: its function is not"
    assert done.stdout.count(cannot) == 1, "of the method that an event loop of its own calls"
    assert ":44 in test_early " in done.stdout
    assert "5 in 4 of 6 tests" in done.stdout


def test_pytest_inside_a_trace_shares_its_simulation(tests: Path, run: Run) -> None:
    command = (sys.executable, "-m", "pytest", "-p", "syncscan.pytest_plugin", "-q")
    done = run("syncscan", "trace", "--simulate", "--", *command, cwd=tests)
    assert "4 passed" in done.stdout, done.stdout + done.stderr
    assert "would have been blocked" in done.stderr


OWN = """\
import torch


@torch.library.custom_op("mine::rows", mutates_args=())
def rows(scores: torch.Tensor, k: int) -> torch.Tensor:
    return scores[:k].clone()


def step():
    torch.ops.mine.rows(torch.ones(4), 2)
    torch.ops.mine.rows(torch.ones(4, device="cuda"), 2)  # SYN206
"""
DECLARED = """\
[tool.syncscan.operations."torch.ops.mine.rows"]
args = ["scores", "k"]
blocks = [{ as = "shape depends on data", when = "scores is gpu" }]
"""


def test_operations_of_a_project_wait_as_it_declares(tmp_path: Path, run: Run) -> None:
    (tmp_path / "pyproject.toml").write_text(DECLARED, encoding="utf-8")
    (tmp_path / "program.py").write_text(f"{OWN}\n\nstep()\n", encoding="utf-8")
    options = ("--simulate", "--output-format", "json", "--", sys.executable, "program.py")
    done = run("syncscan", "trace", *options, cwd=tmp_path)
    sites = json.loads(done.stdout)["sites"]
    assert [(site["line"], site["code"], site["count"]) for site in sites] == [(11, "SYN206", 1)], done.stderr


def test_operations_of_a_project_wait_in_its_tests(tmp_path: Path, run: Run) -> None:
    (tmp_path / "pyproject.toml").write_text(DECLARED, encoding="utf-8")
    limited = "\n\n@pytest.mark.limit_syncs(0)\ndef test_step():\n    step()\n"
    (tmp_path / "test_own.py").write_text(f"import pytest\n{OWN}{limited}", encoding="utf-8")
    command = ("pytest", "-p", "syncscan.pytest_plugin", "--syncscan=simulate")
    done = run(*command, cwd=tmp_path)
    assert ":12 in step " in done.stdout, done.stdout + done.stderr
    (tmp_path / "pyproject.toml").write_text("[tool.syncscan]\noperations = []\n", encoding="utf-8")
    wrong = run(*command, cwd=tmp_path)
    assert "[tool.syncscan]: operations: must be a table" in wrong.stderr


UNCOMPUTED = """\
import os, torch
library = torch.library.Library("lost", "DEF")
library.define("kernel(Tensor x, Tensor(a!) out) -> ()")
library.define("other(Tensor(a!) out) -> ()")
x = torch.ones(3, device="cuda")
for _ in range(4):
    torch.ops.lost.kernel(x, x)
torch.ops.lost.other(x)
if os.fork() == 0:
    torch.ops.lost.kernel(x, x)
    raise SystemExit
os.wait()
"""


READS = """\
import torch
library = torch.library.Library("lost", "DEF")
library.define("kernel(Tensor x, Tensor(a!) out) -> ()")
x, out = torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
torch.ops.lost.kernel(x, out)
print(x.sum().item())
if (out + x).max() > 1:
    print("accepted")
"""


def test_a_report_says_which_waits_read_what_was_not_computed(tmp_path: Path, run: Run) -> None:
    (tmp_path / "program.py").write_text(READS, encoding="utf-8")
    command = ("syncscan", "trace", "--simulate", "-o", "out", "--", sys.executable, "program.py")
    traced = run(*command, cwd=tmp_path)
    trace = json.loads((tmp_path / "out" / "trace.json").read_text(encoding="utf-8"))
    found = {site["line"]: (site["uncomputed"], site["code"]) for site in trace["sites"]}
    assert found == {6: (False, "SYN101"), 7: (True, "SYN104")}, traced.stderr
    below = traced.stderr.partition("program.py:7 in")[2].partition("instead")[0]
    assert "(reads what was not computed)" in below
    assert traced.stderr.count("reads what was not computed") == 1
    assert trace["decided"] == {"lost::kernel": 1}
    assert "may differ where the CPU read results of lost::kernel (1)\n" in traced.stderr


DECIDES = """\
import torch
library = torch.library.Library("sgl_kernel", "DEF")
library.define("top_k_renorm_probs(Tensor probs, Tensor! made, Tensor? ks, int k) -> ()")
made = torch.ones(1, 2, device="cuda")
torch.ops.sgl_kernel.top_k_renorm_probs(torch.tensor([[0.25, 0.75]], device="cuda"), made, None, 1)
print(made.tolist())
"""


@pytest.mark.parametrize(
    ("options", "made"), [((), "[[0.0, 1.0]]"), (("--kernels", "zeros"), "[[0.0, 0.0]]")]
)
def test_the_user_says_which_kernels_are_run(
    tmp_path: Path, run: Run, options: tuple[str, ...], made: str
) -> None:
    (tmp_path / "program.py").write_text(DECIDES, encoding="utf-8")
    command = ("syncscan", "trace", "--simulate", *options, "--", sys.executable, "program.py")
    traced = run(*command, cwd=tmp_path)
    assert traced.stdout == f"{made}\n", traced.stderr
    assert ("not computed" in traced.stderr) is bool(options)


def test_a_report_says_what_was_not_computed_and_how_often(tmp_path: Path, run: Run) -> None:
    (tmp_path / "program.py").write_text(UNCOMPUTED, encoding="utf-8")
    traced = run(
        "syncscan", "trace", "--simulate", "-o", "out", "--", sys.executable, "program.py", cwd=tmp_path
    )
    assert "\nnot computed, 2 kernels for the GPU alone: lost::kernel (5), lost::other (1); " in traced.stderr
    trace = json.loads((tmp_path / "out" / "trace.json").read_text(encoding="utf-8"))
    assert trace["uncomputed"] == {"lost::kernel": 5, "lost::other": 1}
    both = run("syncscan", "trace", "report", "out", "out", "--output-format", "json", cwd=tmp_path)
    assert json.loads(both.stdout)["uncomputed"] == {"lost::kernel": 10, "lost::other": 2}, both.stderr


COMPILED = """\
import torch

@torch.compile
def step(x):
    host = x.cpu()
    return host, x.sum().item()

step(torch.ones(3, device="cuda"))
step(torch.ones(3, device="cuda"))
"""


def test_a_report_says_which_waits_break_the_graph_of_a_compiled_function(tmp_path: Path, run: Run) -> None:
    (tmp_path / "program.py").write_text(COMPILED, encoding="utf-8")
    command = ("syncscan", "trace", "--simulate", "-o", "out", "--", sys.executable, "program.py")
    traced = run(*command, cwd=tmp_path)
    trace = json.loads((tmp_path / "out" / "trace.json").read_text(encoding="utf-8"))
    found = {site["line"]: (site["count"], site["breaks_graph"], site["code"]) for site in trace["sites"]}
    assert found == {5: (2, False, "SYN105"), 6: (2, True, "SYN101")}, traced.stderr
    below = traced.stderr.partition("program.py:6 in step")[2].partition("instead")[0]
    assert "(breaks the graph of a compiled function)" in below
    assert traced.stderr.count("breaks the graph") == 1
    run("syncscan", "trace", "report", "out", "--output-format", "html", "-o", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "breaks the graph of a compiled function" in page


def test_each_rank_of_a_launcher_has_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    source = "import os, torch\ntorch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n"
    source += "print(torch.ones(1, device='cuda').device, torch.cuda.device_count())\n"
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_RANK", "3")
    done = run("syncscan", "trace", "--simulate", "--", sys.executable, "program.py", cwd=tmp_path)
    assert done.stdout == "cuda:3 4\n", done.stderr
