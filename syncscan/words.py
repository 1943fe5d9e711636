"""Numbers and counted nouns in messages."""

from __future__ import annotations


def noun(count: float, one: str, many: str = "") -> str:
    """Return "file" for a count of one, else "files", or "fixes" where ``many`` says so."""
    return one if count == 1 else many or one + "s"


def number(value: float) -> str:
    """Return a mean or a duration with three significant digits: "0.25", "12.3", "1,234"."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"  # 3g writes 1.23e+03


def plural(count: int, one: str, many: str = "") -> str:
    """Return "1 file", "2 files", or "2 fixes" where ``many`` says so."""
    return f"{count} {noun(count, one, many)}"
