"""The messages of ``syncscan trace`` about exceeded limits per step."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from syncscan.report.trace_rows import short_path
from syncscan.trace.sites import spot
from syncscan.words import noun, number, plural

_MOST_PLACES = 5


def broken_limits(
    trace: dict[str, Any], max_syncs: float | None, max_blocked_ms: float | None, folder: Path
) -> list[str]:
    """Return a message for each limit that the worst step exceeds, with paths relative to a folder."""
    if max_syncs is None and max_blocked_ms is None:
        return []
    steps = trace["steps"]
    if steps is None or not steps["started"]:
        return ["no step was seen, so its limit is not checked: is --step the function that runs each step?"]
    if not steps["steady"]:
        begun = plural(steps["started"], "step")
        return [
            f"no step ended after the warm-up, so the limit is not checked: {begun} began, --warmup is {steps['warmup']}"
        ]
    limits = (
        ("syncs", max_syncs, 1, ("sync", "syncs")),
        ("blocked_ns", max_blocked_ms, 1e6, ("ms blocked", "ms blocked")),
    )
    return [
        _broken(trace["worst_step"][name], limit, scale, unit, folder)
        for name, limit, scale, unit in limits
        if limit is not None and trace["worst_step"].get(name, {}).get("value", 0) / scale > limit
    ]


def _broken(worst: dict[str, Any], limit: float, scale: float, unit: tuple[str, str], folder: Path) -> str:
    value = worst["value"] / scale
    places: Counter[str] = Counter()  # one line of code may have several sites and several stacks
    for line in worst["lines"]:
        places[spot(short_path(line["path"], folder), line["line"])] += line["value"] / scale
    named = ", ".join(f"{place} ({number(share)})" for place, share in places.most_common(_MOST_PLACES))
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return f"{number(value)} {noun(value, *unit)} per step, the limit is {limit:g}: {named}{more}"
