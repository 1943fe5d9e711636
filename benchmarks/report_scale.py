"""What a report costs at scale: the traces of 1,000 ranks put together, and a page of 100,000 places.

    python -m benchmarks.report_scale [TRACES] [PLACES]

Writes traces of 1 MB each into a temporary folder, shows them as one with `syncscan trace report`, and prints the
time and the memory that it took; then the same of `syncscan trace report --output-format html` for one trace of many places, and,
where there is a Chromium, how long the page takes to load, to sort and to filter. Needs no GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MEGABYTE = 1_000_000
STEADY = 400


def make_site(number: int, rank: int, stacks: int) -> dict[str, Any]:
    """A site as a large program has them, with some stacks of 12 frames."""
    path = f"/opt/venv/lib/python3.12/site-packages/engine/worker/part{number % 97}.py"
    total = STEADY * (5_000 + number * 7919 % 45_000)
    return {
        "path": path, "line": 10 + number, "column": 9, "end_line": 10 + number, "end_column": 40,
        "function": f"Runner.part{number % 89}", "expression": f"self.values[{number}].item()", "code": "SYN101",
        "name": "item-read", "instead": "keep the number on the GPU, or use a value that the host already has",
        "api": "cudaStreamSynchronize", "count": STEADY,
        "blocked_ns": {"total": total, "max": 90_000, "p50": 19_000, "p99": 60_000,
                       "histogram": {str(100 + part): STEADY // 8 for part in range(8)}},
        "per_step": 1.0, "step_spread": {"syncs": 0.1, "blocked_ns": 1000.0}, "phase": "steady", "in_step": True,
        "allowed": None, "backward_of": None, "detectors": ["cupti"], "missed_by": [],
        "threads": {"MainThread": STEADY}, "ranks": {str(rank): STEADY}, "rank_ns": {str(rank): total},
        "stacks": [
            {"count": STEADY // (stack + 1), "frames": [f"{path}:{depth * 10 + stack}:function_{depth}" for depth in range(12)]}
            for stack in range(stacks)
        ],
    }  # fmt: skip


def make_trace(sites: list[dict[str, Any]], rank: int) -> dict[str, Any]:
    """A trace of one rank."""
    steps = {
        "target": "engine:Engine.step",
        "warmup": 2,
        "started": STEADY + 2,
        "steady": STEADY,
        "wall_ns": 8 * 10**9,
    }
    process = {
        "pid": 100 + rank, "ppid": 1, "rank": rank, "hooked": True, "argv": ["python", "serve.py"], "torch": "2.11.0",
        "cuda": "13.0", "detectors": ["cupti"], "notes": [], "steps": STEADY, "wall_ns": 10**10,
    }  # fmt: skip
    return {
        "version": 1, "tool": {"name": "syncscan", "version": "0"}, "command": ["python", "serve.py"], "exit_status": 0,
        "wall_ns": 10**10, "steps": steps, "starved_check": None, "proposed_step": None, "worst_step": {}, "processes": [process], "sites": sites,
        "timeline": [],
    }  # fmt: skip


def write_traces(folder: Path, number: int) -> int:
    """Write traces of a megabyte, each of one rank; returns the bytes of one."""
    size = len(json.dumps(make_site(0, 0, 3)))
    for rank in range(number):
        # Most places are those of all ranks, and some are of one.
        numbers = [*range(MEGABYTE // size - 5), *(10_000 + 5 * rank + own for own in range(5))]
        (folder / str(rank)).mkdir()
        text = json.dumps(make_trace([make_site(number, rank, 3) for number in numbers], rank))
        (folder / str(rank) / "trace.json").write_text(text)
    return len(text)


def measured(*arguments: object) -> tuple[float, float, float]:
    """Seconds, seconds of a processor, and the largest memory in MB of all its processes, of one run of syncscan."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "syncscan", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        most = 0
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            most = max(most, memory_of(process.pid))
            time.sleep(0.1)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, most / 1024


def memory_of(pid: int) -> int:
    """KiB that a process and its children hold; what several share is divided among them."""
    folder = Path("/proc", str(pid))
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        children = (folder / "task" / str(pid) / "children").read_text().split()
    except OSError:  # it has just ended
        return 0
    own = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return own + sum(memory_of(int(child)) for child in children)


def in_browser(file: Path) -> None:
    """Print how long a page takes to load, sort and filter."""
    from tests.report.browser import CHROMIUM, Browser  # noqa: PLC0415 (only where there is one)

    if CHROMIUM is None:
        print("no Chromium here")
        return
    browser = Browser(Path(tempfile.mkdtemp()))
    start = time.perf_counter()
    browser.open(file)
    print(f"  load {time.perf_counter() - start:6.2f} s")
    for name, script in (
        ("sort", "document.querySelectorAll('#head button')[5].click()"),
        ("filter", "document.getElementById('filter').value = 'part7.py 1'; update()"),
        (
            "open the last",
            "document.getElementById('filter').value = ''; update(); detailOf(matching.at(-1))",
        ),
    ):
        start = time.perf_counter()
        browser.run(f"(() => {{ {script} }})()")
        print(f"  {name} {time.perf_counter() - start:6.2f} s")
    browser.close()


def main(traces: int, places: int) -> None:
    """Run and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_traces(folder, traces)
        seconds, busy, memory = measured("trace", "report", folder)
        print(
            f"{traces} traces of {size / MEGABYTE:.2f} MB as one: {seconds:.1f} s, {busy:.1f} s of a processor, {memory:.0f} MB"
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sites = [make_site(number, 0, 1) | {"stacks": []} for number in range(places)]
        (folder / "trace.json").write_text(json.dumps(make_trace(sites, 0)))
        seconds, busy, memory = measured(
            "trace", "report", "--output-format", "html", "-o", folder / "page.html", folder
        )
        megabytes = (folder / "page.html").stat().st_size / MEGABYTE
        print(
            f"a page of {places:,} places: {seconds:.1f} s, {busy:.1f} s of a processor, {memory:.0f} MB; {megabytes:.0f} MB large"
        )
        in_browser(folder / "page.html")


if __name__ == "__main__":
    main(*(int(argument) for argument in (sys.argv[1:] + ["1000", "100000"][len(sys.argv) - 1 :])))
