"""What tracing must show on a real GPU; run with ``pytest -m gpu``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA GPU", allow_module_level=True)

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def trace(folder, *command, options=(), **environment):
    """Run a command under ``syncscan trace``; (finished process, trace)."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "syncscan", "trace", "-o", folder, *options, "--", *map(str, command)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
        timeout=300,
    )
    print(done.stdout[-3000:], done.stderr[-6000:])
    return done, json.loads((folder / "trace.json").read_text())


@pytest.fixture(scope="session")
def operations(tmp_path_factory):
    script = HERE / "operations.py"
    done, trace_ = trace(
        tmp_path_factory.mktemp("operations"), sys.executable, script, options=["--step", "__main__:measured"]
    )
    assert done.returncode == 0
    return trace_


def test_measuring_what_a_wait_costs_loses_no_wait(operations, tmp_path):
    """Turned off at a wrong moment, callbacks stop coming, of waits too."""
    script = HERE / "operations.py"
    options = ["--step", "__main__:measured", "--starved"]
    done, measured = trace(tmp_path, sys.executable, script, options=options)
    assert done.returncode == 0
    varying = {
        number for number, line in enumerate(script.read_text().splitlines(), 1) if line.endswith(" times")
    }
    counts = [
        Counter(
            {
                (site["line"], site["api"]): 1 if site["line"] in varying else site["count"]
                for site in trace_["sites"]
                if site["in_step"]
            }
        )
        for trace_ in (operations, measured)
    ]
    assert counts[0] == counts[1]
    assert any(site["starved_ns"] for site in measured["sites"])


def test_starved_time_is_what_the_kernels_timeline_says_and_the_profiler_sees_all(tmp_path):
    options = ["--starved", "--step", "__main__:step", "--warmup", "5"]
    done, checked = trace(tmp_path, sys.executable, HERE / "starves.py", options=options)
    assert done.returncode == 0
    check = checked["starved_check"]
    assert check["steps"] >= 3
    assert check["waits"] == 2 * check["steps"]
    assert check["starved_ns"] == pytest.approx(check["timeline_ns"], rel=0.15)
    assert done.stdout.split()[-1] == "500"


def test_every_blocking_operation_is_attributed_to_its_line_and_no_other(operations):
    """The measured truth of each line against what the trace blames, the seven unseen by debug mode too."""
    lines = (HERE / "operations.py").read_text().splitlines()
    expected = {number for number, line in enumerate(lines, 1) if "# blocks" in line}
    sites = [s for s in operations["sites"] if s["in_step"] and s["path"].endswith("operations.py")]
    seen = {site["line"] for site in sites}
    for number in sorted(expected - seen):
        print("MISSED", lines[number - 1])
    for number in sorted(seen - expected):
        print("WRONG", lines[number - 1], [s["api"] for s in sites if s["line"] == number])
    for site in sorted(sites, key=lambda s: s["line"]):
        print("CODE", site["line"], site["code"], site["api"], site["count"], site["expression"][:70])
    assert seen == expected


@pytest.fixture(scope="session")
def server_counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    subprocess.run(
        [sys.executable, HERE / "decode_server.py", "20", "3"],
        env={**os.environ, "COUNT_CALLS_IN": str(folder)},
        check=True,
        timeout=200,
    )
    counted = Counter()
    for part in folder.glob("*.json"):
        counted.update(json.loads(part.read_text()))
    return counted


def test_a_server_of_four_processes_counts_what_the_profiler_counts(tmp_path, server_counts):
    done, trace_ = trace(tmp_path, sys.executable, HERE / "decode_server.py", "20", "3")
    assert done.returncode == 0
    waits = Counter()
    for site in trace_["sites"]:
        if any("Worker.step" in frame for frame in site["stacks"][0]["frames"]):
            waits[site["api"]] += site["count"]
    print("TRACED", dict(waits), "PROFILED", dict(server_counts))
    # The trace has the 3 warm-up steps of each of the 6 prompts as well, which the profiler has not.
    for call in ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy"):
        assert waits[call] * 20 == server_counts[call] * 23
    assert len([p for p in trace_["processes"] if p.get("detectors")]) == 3


def test_a_server_has_its_waits_per_step(tmp_path):
    options = ["--step", "decode_worker:Worker.step", "--warmup", "3"]
    done, trace_ = trace(tmp_path, sys.executable, HERE / "decode_server.py", "20", "3", options=options)
    assert done.returncode == 0
    assert trace_["steps"]["steady"] == 3 * (2 * 23 - 3)
    own = {
        s["line"]: s["per_step"]
        for s in trace_["sites"]
        if s["path"].endswith("decode_worker.py") and s["in_step"] and s["phase"] == "steady"
    }
    assert list(own.values()) == [1, 1, 1]


@pytest.fixture(scope="session")
def endings(tmp_path_factory):
    ways = re.findall(r"^def (\w+)\(\):", (HERE / "endings.py").read_text(), re.MULTILINE)
    with ThreadPoolExecutor(6) as pool:
        runs = {
            way: pool.submit(trace, tmp_path_factory.mktemp(way), sys.executable, HERE / "endings.py", way)
            for way in ways
        }
    return {way: run.result() for way, run in runs.items()}


@pytest.mark.parametrize(
    ("way", "status", "waits"),
    [
        ("exception", 1, 5),
        ("exit_3", 3, 5),
        ("os_exit", 4, 5),
        ("terminated", -15, 5),
        ("killed", -9, 5),
        ("out_of_memory", 1, 5),
        ("fork_before", 0, 12),
        ("fork_after", 0, 7),
        ("threads", 0, 800),
        ("own_mode", 0, 12),
        ("own_profiler", 0, 7),
    ],
)
def test_however_a_program_ends_its_trace_is_whole(endings, way, status, waits):
    done, trace_ = endings[way]
    assert done.returncode == status
    assert trace_["exit_status"] == (status if status >= 0 else 128 - status)
    found = [site for site in trace_["sites"] if site["function"] == "work"]
    print(way, [(s["line"], s["count"], s["api"]) for s in trace_["sites"]], done.stdout)
    assert sum(site["count"] for site in found) == waits
    assert {site["code"] for site in found} == {"SYN101"}


def test_a_program_that_sets_the_mode_sees_what_it_would_see_alone(endings):
    done, _ = endings["own_mode"]
    alone = subprocess.run([sys.executable, HERE / "endings.py", "own_mode"], capture_output=True, text=True)
    assert done.stdout == alone.stdout


def test_a_profiler_of_the_program_still_works(endings):
    done, _ = endings["own_profiler"]
    assert done.stdout == "profiled 5\n"


def test_waits_in_backward_compilation_and_capture_are_told_apart(endings):
    for way in ("backward", "compiled", "captured"):
        done, trace_ = endings[way]
        assert done.returncode == 0
        for site in trace_["sites"]:
            print(
                way,
                site["line"],
                site["phase"],
                site["api"],
                site["count"],
                site["backward_of"],
                site["expression"],
            )
    in_backward = [s for s in endings["backward"][1]["sites"] if s["function"].endswith("Waits.backward")]
    assert [site["count"] for site in in_backward] == [1]
    steady = [s for s in endings["captured"][1]["sites"] if s["phase"] == "steady"]
    assert {"static.sum().item()"} <= {site["expression"] for site in steady}
    assert {s["phase"] for s in endings["captured"][1]["sites"]} == {"steady", "capture"}


def test_a_wait_below_python_in_backward_names_its_node_and_on_request_its_forward_line(endings, tmp_path):
    (site,) = [s for s in endings["backward"][1]["sites"] if s["backward_of"] == "ProdBackward0"]
    assert site["expression"] == "product.backward()"
    _, trace_ = trace(tmp_path, sys.executable, HERE / "endings.py", "backward", options=["--backward-lines"])
    (site,) = [s for s in trace_["sites"] if s["backward_of"] == "ProdBackward0"]
    assert site["expression"] == "product = weights.prod()"


GUARDED = """
import time, torch, syncscan
t = torch.ones(8, device="cuda"); host = torch.ones(1 << 22)
def line(error): return error.sync.line
def run(function):
    try:
        with syncscan.forbid_sync(): function()
    except syncscan.SyncError as error: return error.sync.line
print(run(lambda: t.sum().item()),
      run(lambda: torch.cuda.synchronize()),
      run(lambda: t.cpu()),
      run(lambda: host.to("cuda", non_blocking=True)),
      run(lambda: t + 1))
with syncscan.count_syncs() as seen:
    t.tolist(); t[t > 0]; t * 2
print(seen.total)
start = time.perf_counter()
for _ in range(100):
    with syncscan.forbid_sync(): t.add(1)
print("forbid_sync costs", round((time.perf_counter() - start) * 1e4, 1), "us")
print(torch.cuda.get_sync_debug_mode())
"""


def test_guards(tmp_path):
    script = tmp_path / "guarded.py"
    script.write_text(GUARDED)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
    )
    print(done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    assert lines[0] == "9 10 11 12 None"
    assert lines[1] == "2"
    assert lines[-1] == "0"


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_torchrun_has_both_ranks_in_one_report(tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", HERE / "two_ranks.py"]
    done, trace_ = trace(tmp_path, *command, options=["--step", "__main__:step", "--warmup", "2"])
    assert done.returncode == 0
    assert sorted(p["rank"] for p in trace_["processes"] if p.get("detectors")) == [0, 1]
    steady = {s["expression"]: s for s in trace_["sites"] if s["phase"] == "steady" and s["in_step"]}
    assert steady["loss.item()"]["ranks"] == {"0": 8, "1": 8}
    assert steady["loss.item()"]["per_step"] == 1
    assert list(steady["loss.tolist()"]["ranks"]) == ["1"]
