"""Counted nouns in messages."""

from __future__ import annotations


def noun(count: float, one: str, many: str = "") -> str:
    """Return "file" for a count of one, else "files", or "fixes" where ``many`` says so."""
    return one if count == 1 else many or one + "s"


def plural(count: int, one: str, many: str = "") -> str:
    """Return "1 file", "2 files", or "2 fixes" where ``many`` says so."""
    return f"{count} {noun(count, one, many)}"
