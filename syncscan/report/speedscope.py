"""A trace for speedscope: its stacks, by how long and by how often they blocked.

The format is that of https://www.speedscope.app/file-format-schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def render(trace: dict[str, Any], stream: TextIO) -> None:
    """Write one file with a profile for each measure."""
    frames: dict[str, int] = {}
    stacks = [
        ([frames.setdefault(frame, len(frames)) for frame in reversed(stack)], weights)
        for stack, *weights in weighted_stacks(trace)
    ]
    measures = (("blocked", 1, "nanoseconds"), ("GPU idle", 2, "nanoseconds"), ("syncs", 0, "none"))
    data = {
        "$schema": SCHEMA,
        "name": " ".join(trace["command"]) or "syncscan",
        "exporter": f"syncscan {trace['tool']['version']}",
        "shared": {"frames": [_frame(frame) for frame in frames]},
        "profiles": [
            _profile(name, unit, [(stack, weights[at]) for stack, weights in stacks if weights[at]])
            for name, at, unit in measures
            if any(weights[at] for _, weights in stacks)
        ],
    }
    json.dump(data, stream)
    stream.write("\n")


def weighted_stacks(trace: dict[str, Any]) -> Iterator[tuple[list[str], int, int, int]]:
    """Yield each stack that is known, innermost frame first: its synchronizations, blocked and idle GPU time, in ns.

    A trace has the five most frequent stacks of a site; its times are shared out by their counts.
    """
    for site in trace["sites"]:
        known = sum(stack["count"] for stack in site["stacks"])
        starved = site.get("starved_ns") or {"total": 0}
        for stack in site["stacks"]:
            if not known:
                continue
            part = stack["count"] / known
            leaf = f"{site['path']}:{site['line']}:{site['expression'] or site['api']}"
            times = (round(part * site["blocked_ns"]["total"]), round(part * starved["total"]))
            yield [leaf, *stack["frames"]], round(part * site["count"]), *times


def _frame(frame: str) -> dict[str, Any]:
    path, line, name = split_frame(frame)
    return {"name": name, "file": path, **({"line": line} if line else {})}


def split_frame(frame: str) -> tuple[str, int, str]:
    """Return the path, the line and the function of ``path:line:function``; a path may have colons too."""
    parts = frame.split(":")
    for index in range(1, len(parts) - 1):
        if parts[index].isascii() and parts[index].isdigit() and len(parts[index]) < 10:
            return ":".join(parts[:index]), int(parts[index]), ":".join(parts[index + 1 :])
    return "", 0, frame


def _profile(name: str, unit: str, samples: list[tuple[list[int], int]]) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": name,
        "unit": unit,
        "startValue": 0,
        "endValue": sum(weight for _, weight in samples),
        "samples": [stack for stack, _ in samples],
        "weights": [weight for _, weight in samples],
    }
