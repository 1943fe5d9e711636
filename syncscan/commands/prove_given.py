"""The observations of traces, by the files of a project: ``syncscan prove --given``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from syncscan.check.prove.ran import Code, RunSeen
from syncscan.config import Config
from syncscan.errors import SyncscanError
from syncscan.report.compared import shown_paths
from syncscan.trace.load import read_traces
from syncscan.trace.trace import Trace


def run_seen(traces: Sequence[Path], config: Config, files: list[str]) -> RunSeen:
    """Return the observations of the traces, by the files of the project."""
    trace = read_traces(traces, config.table())
    if trace["lines"] is None:
        raise SyncscanError(
            f"{traces[0]}: made without --calls; trace the program again with `syncscan trace --calls`, in Python 3.12 or newer"
        )
    shown = shown_paths(Path.cwd(), set(files))
    ran: dict[str, set[int]] = {}
    for name, ranges in trace["lines"].items():
        if (path := shown(name)) is not None:
            ran.setdefault(path, set()).update(n for first, last in ranges for n in range(first, last + 1))
    synchronized: dict[str, set[int]] = {}
    for site in trace["sites"]:
        if site["line"] and site["allowed"] is None and (path := shown(site["path"])) is not None:
            synchronized.setdefault(path, set()).add(site["line"])
    callers = _callers_of(trace, shown)
    calls: dict[Code, set[Code]] = {}
    for code, found in callers.items():
        for caller, _ in found:
            calls.setdefault(caller, set()).add(code)
    return RunSeen(ran, synchronized, _callees_of(trace, shown), calls, callers)


def _callees_of(
    trace: Trace, shown: Callable[[str], str | None]
) -> dict[str, dict[tuple[int, int], set[str]]]:
    """Return the names that each call had, by the end of the call."""
    callees: dict[str, dict[tuple[int, int], set[str]]] = {}
    for name, rows in trace["callees"].items():
        known = callees.setdefault(shown(name) or name, {})
        for _, _, line, column, names in rows:
            known.setdefault((line, column), set()).update(names)
    return callees


def _callers_of(trace: Trace, shown: Callable[[str], str | None]) -> dict[Code, set[tuple[Code, int]]]:
    """Return the callers of each piece of code, with the line of the call."""
    callers: dict[Code, set[tuple[Code, int]]] = {}
    for name, rows in trace["callers"].items():
        for line, caller, first, at in rows:
            code = (shown(name) or name, line)
            callers.setdefault(code, set()).add(((shown(caller) or caller, first), at))
    return callers
