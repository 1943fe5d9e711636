"""Words that reports of checks and of traces share."""

from __future__ import annotations

from typing import Any

from syncscan.words import plural


def steps_seen(steps: dict[str, Any]) -> str:
    """Return the number of steps of a trace, and where no step ran, the question after the reason."""
    if not steps["started"]:
        return f"0 steps of {steps['target']}: is it the function that runs each step? A subclass may replace a method"
    return f"{plural(steps['started'], 'step')} of {steps['target']}{warm_up_of(steps)}"


def warm_up_of(steps: dict[str, Any]) -> str:
    """Return the number of steps that are warm-up as the end of a sentence; empty if no step is."""
    if not steps["warmup"]:
        return ""
    if steps["warmup"] == 1:
        return "; the first of a process is warm-up"
    return f"; the first {steps['warmup']} of a process are warm-up"
