"""A whole trace as the object that ``trace.json`` holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from syncscan import __version__
from syncscan.ops import OperationTable
from syncscan.trace.contract import FORMAT_VERSION
from syncscan.trace.launch import Launched, why_unhooked
from syncscan.trace.lines import joined_callees, joined_callers, ranges_by_file
from syncscan.trace.propose import propose_step
from syncscan.trace.sites import Blame, Site, Sources, collect, to_json
from syncscan.trace.store import Process, added_up, read_parts

Trace = dict[str, Any]


def build(
    command: Sequence[str],
    launched: Launched,
    parts: Path,
    blame: Blame,
    warmup: int,
    table: OperationTable,
) -> Trace:
    """Merge what the processes of a command wrote; docs/trace-format.md describes the fields."""
    recorded = read_parts(parts)
    processes = recorded.processes
    sources = Sources(table, _sources_without_file(processes))
    sites, of_wait = collect(processes, blame, sources)
    steps = _steps(processes, warmup)
    return {
        "version": FORMAT_VERSION,
        "tool": {"name": "syncscan", "version": __version__},
        "command": list(command),
        "exit_status": launched.status,
        "wall_ns": max((process.wall_ns for process in processes), default=0),
        "steps": steps,
        "starved_check": added_up(process.checked for process in processes),
        "proposed_step": propose_step(processes, sources) if steps is None else None,
        "worst_step": _worst_step(processes, of_wait),
        "processes": [_process(process) for process in processes] + _unhooked(processes, launched),
        "sites": [to_json(site, processes) for site in sites],
        "timeline": _timeline(processes, sites, of_wait),
        "uncomputed": _summed(process.uncomputed for process in processes),
        "decided": _summed(process.decided for process in processes),
        "lines": ranges_by_file(recorded.lines) or None,
        "callees": joined_callees(process.callees for process in processes),
        "callers": joined_callers(process.callers for process in processes),
    }


def _sources_without_file(processes: Iterable[Process]) -> dict[str, str]:
    """Return the texts that processes have noted by name; "" where they differ."""
    texts: dict[str, str] = {}
    for process in processes:
        for path, text in process.sources.items():
            texts[path] = text if texts.get(path, text) == text else ""
    return texts


def _summed(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the sum of counts, the highest first."""
    return dict(sum(map(Counter, counts), Counter[str]()).most_common())


def _process(process: Process) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "ppid": process.ppid,
        "rank": process.rank,
        "hooked": True,
        "argv": process.argv,
        "torch": process.torch.get("version"),
        "cuda": process.torch.get("cuda"),
        "detectors": process.detectors,
        "notes": process.notes,
        "steps": (process.steps or {}).get("started", 0),
        "wall_ns": process.wall_ns,
    }


def _unhooked(processes: Sequence[Process], launched: Launched) -> list[dict[str, Any]]:
    hooked = {process.pid for process in processes}
    found = []
    for pid, sighting in launched.pythons.items():
        why = why_unhooked(sighting, launched) if pid not in hooked else None
        if why is not None:
            found.append({"pid": pid, "hooked": False, "argv": sighting.argv, "why": why})
    return found


def _steps(processes: Sequence[Process], warmup: int) -> dict[str, Any] | None:
    counted = [process.steps for process in processes if process.steps is not None]
    if not counted:
        return None
    return {
        "target": counted[0]["target"],
        "warmup": warmup,
        "started": sum(steps["started"] for steps in counted),
        "steady": sum(steps["steady"] for steps in counted),
        "wall_ns": sum(steps["wall_ns"] for steps in counted),
    }


def _worst_step(processes: Sequence[Process], of_wait: dict[tuple[int, int], Site]) -> dict[str, Any]:
    """Return the step with the most synchronizations and the one blocked longest, with their lines."""
    worst: dict[str, Any] = {}
    for index, process in enumerate(processes):
        for name, (value, parts) in (process.steps or {}).get("most", {}).items():
            if value > worst.get(name, {}).get("value", 0):
                worst[name] = {"value": value, "rank": process.rank, "lines": _lines(index, parts, of_wait)}
    return worst


def _timeline(
    processes: Sequence[Process], sites: Sequence[Site], of_wait: dict[tuple[int, int], Site]
) -> list[dict[str, Any]]:
    """Return the first synchronizations and steps of each process in time; sites by their index."""
    indices = {id(site): index for index, site in enumerate(sites)}
    return [
        {
            "pid": process.pid,
            "rank": process.rank,
            "steps": process.windows,
            "waits": [
                [indices[id(of_wait[number, wait])], *rest]
                for wait, *rest in process.moments
                if (number, wait) in of_wait
            ],
        }
        for number, process in enumerate(processes)
        if process.windows or process.moments
    ]


def _lines(index: int, parts: dict[int, float], of_wait: dict[tuple[int, int], Site]) -> list[dict[str, Any]]:
    found = [(of_wait.get((index, number)), share) for number, share in parts.items()]
    lines = [
        {"path": site.place.path, "line": site.place.line, "expression": site.expression, "value": share}
        for site, share in found
        if site is not None
    ]
    return sorted(lines, key=lambda line: -line["value"])


def why_untraced(trace: Trace) -> str:
    """Return the reason why no process of a trace used a GPU; "" if a process did."""
    used = [p for p in trace["processes"] if p.get("detectors")]
    if used:
        written = any(p["wall_ns"] for p in used)
        return "" if written else "the program ended before its syncs were written for the first time"
    with_torch = [p for p in trace["processes"] if p.get("torch")]
    if not with_torch:
        hooked = any(p["hooked"] for p in trace["processes"])
        return "no process imported torch" if hooked else "no Python process was hooked"
    if all(p["cuda"] == "simulated" for p in with_torch):
        return "the program put nothing on the simulated GPU"
    if not any(p["cuda"] for p in with_torch):
        return f"torch {with_torch[0]['torch']} in the program has no CUDA"
    return "no process started CUDA"
