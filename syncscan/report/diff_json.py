"""A comparison of two traces as JSON. Its ``version`` changes when a reader could break."""

from __future__ import annotations

import json
from typing import Any, TextIO

from syncscan import __version__
from syncscan.report.diff import Comparison, Measure, Side, SiteChange
from syncscan.report.trace_rows import Rows

FORMAT_VERSION = 1
_PLACE = ("code", "path", "line", "column", "end_line", "end_column", "function", "expression", "instead")


def render(comparison: Comparison, stream: TextIO) -> None:
    """Write the comparison as one object."""
    json.dump(as_data(comparison), stream, indent=1)
    stream.write("\n")


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return the object as plain data; times are nanoseconds, a step or a run each, as ``per`` says."""
    return {
        "version": FORMAT_VERSION,
        "tool": {"name": "syncscan", "version": __version__},
        "per": comparison.per,
        "threshold": comparison.threshold,
        "fails": comparison.fails,
        "base": _trace(comparison.base),
        "head": _trace(comparison.head),
        "elsewhere": comparison.elsewhere,
        "sites": [_change(change) for change in comparison.changes],
    }


def _trace(rows: Rows) -> dict[str, Any]:
    return {name: rows.trace[name] for name in ("command", "exit_status", "wall_ns", "steps")}


def _change(change: SiteChange) -> dict[str, Any]:
    place = {name: change.row[name] for name in _PLACE}
    return {"status": change.status, **place, "base": _side(change.base), "head": _side(change.head)}


def _side(side: Side) -> dict[str, Any] | None:
    if side.row is None:
        return None
    return {
        "line": side.row["line"],
        "waits": _measure(side.waits),
        "blocked_ns": _measure(side.blocked_ns),
        "starved_ns": _measure(side.starved_ns),
    }


def _measure(measure: Measure | None) -> dict[str, float] | None:
    return None if measure is None else {"mean": measure.mean, "error": measure.error}
