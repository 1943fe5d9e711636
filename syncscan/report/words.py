"""Words that reports of checks and of traces share."""

from __future__ import annotations


def plural(count: int, one: str, many: str = "") -> str:
    """Return "1 file", "2 files", or "2 fixes" where ``many`` says so."""
    return f"{count} {one if count == 1 else many or one + 's'}"
