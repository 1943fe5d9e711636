"""A comparison of two traces as text: what changed, what fails first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from rich.text import Text

from syncscan.report.console import Console
from syncscan.report.diff import (
    BETTER,
    FAILS,
    GONE,
    NEW,
    SAME,
    WORSE,
    Comparison,
    Measure,
    SiteChange,
    step_totals,
)
from syncscan.report.records import heading
from syncscan.report.trace_rows import duration
from syncscan.report.trace_text import where
from syncscan.words import number, plural

MAX_CHANGES = 60
_STYLES = {NEW: "bold red", WORSE: "red", GONE: "bold green", BETTER: "green"}


def render(comparison: Comparison, stream: TextIO) -> None:
    """Write what changed, and the totals."""
    console = Console(file=stream, highlight=False)
    for line in _lines(comparison, Path.cwd()):
        console.print(line, soft_wrap=True)


def _lines(comparison: Comparison, folder: Path) -> Iterator[Text]:
    yield Text(_headline(comparison), style="bold")
    changed = [change for change in comparison.changes if change.status != SAME]
    if changed:
        yield from _table(comparison, changed[:MAX_CHANGES], folder)
    if len(changed) > MAX_CHANGES:
        yield Text(f"and {len(changed) - MAX_CHANGES} more; `--output-format json` gives all")
    if others := [f"{count} {status}" for status, count in comparison.elsewhere.items() if count]:
        yield Text(f"outside of steady steps: {', '.join(others)}")
    if comparison.end_remark:
        yield Text(comparison.end_remark)
    if comparison.per == "run":
        yield Text(
            "totals of the runs are compared, which grow with them; trace both with --step to compare steps"
        )


def _headline(comparison: Comparison) -> str:
    counts = [f"{comparison.count(status)} {status}" for status in _STYLES if comparison.count(status)]
    parts = counts + ([f"{same} as before"] if (same := comparison.count(SAME)) else [])
    text = f"syncscan: {', '.join(parts) or 'no syncs in either'}"
    if comparison.per == "run":
        return text
    (waits, blocked), (waits_now, blocked_now) = step_totals(comparison.base), step_totals(comparison.head)
    text += f"; {number(waits)} -> {number(waits_now)} syncs per step"
    if comparison.base.timed and comparison.head.timed:
        text += f", blocked for {duration(blocked)} -> {duration(blocked_now)}"
    return f"{text} ({comparison.base.steady} and {plural(comparison.head.steady, 'steady step')})"


def _table(comparison: Comparison, changes: list[SiteChange], folder: Path) -> Iterator[Text]:
    names = ["", "syncs per step" if comparison.per == "step" else "syncs"]
    cells = [[change.status, _arrow(change.base.waits, change.head.waits, number)] for change in changes]
    for field, name in (("blocked_ns", "blocked"), ("starved_ns", "GPU idle")):
        if any(getattr(change.head, field) or getattr(change.base, field) for change in changes):
            names.append(name)
            for change, texts in zip(changes, cells, strict=True):
                texts.append(_arrow(getattr(change.base, field), getattr(change.head, field), duration))
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    margin = " " * (sum(widths) + 2 * len(widths) + 10)
    yield Text(f"{_columns(names, widths)}code    where", style="dim")
    for texts, change in zip(cells, changes, strict=True):
        line = Text(f"{_columns(texts, widths)}{change.row['code'] or '-':<8}")
        line.stylize(_STYLES[change.status], 0, len(change.status))
        yield line.append(where(change.row, folder)).append(f" in {change.row['function']}")
        if change.row["expression"]:
            yield Text(margin + change.row["expression"])
        if change.status in FAILS and change.row["instead"]:
            text = change.row["instead"]
            yield Text(margin).append(f"{heading(change.row['code'], text)}: {text}", "green")


def _columns(texts: list[str], widths: list[int]) -> str:
    return "".join(f"{text:<{width}}  " for text, width in zip(texts, widths, strict=True))


def _arrow(base: Measure | None, head: Measure | None, show: Callable[[float], str]) -> str:
    was, now = ("-" if side is None else show(side.mean) for side in (base, head))
    return was if was == now else f"{was} -> {now}"
