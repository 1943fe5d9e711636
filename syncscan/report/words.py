"""Words that reports of checks and of traces share."""

from __future__ import annotations

from typing import Any


def plural(count: int, one: str, many: str = "") -> str:
    """Return "1 file", "2 files", or "2 fixes" where ``many`` says so."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def steps_seen(steps: dict[str, Any]) -> str:
    """Return the number of steps of a trace, and where no step ran, the question after the reason."""
    if not steps["started"]:
        return f"0 steps of {steps['target']}: is it the function that runs each step? A subclass may replace a method"
    warm = f"; the first {steps['warmup']} of a process are warm-up" if steps["warmup"] else ""
    return f"{plural(steps['started'], 'step')} of {steps['target']}{warm}"
