"""A comparison of two traces as a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from syncscan.report.diff import SAME, STATUSES, Comparison, SiteChange, step_totals
from syncscan.report.html.page import Column, Excerpts, Page, make_row, make_total, write
from syncscan.report.records import heading
from syncscan.report.trace_rows import duration, spot_of
from syncscan.words import number


def render(comparison: Comparison, stream: TextIO) -> None:
    """Write the page."""
    write(make_page(comparison, Path.cwd()), stream)


def make_page(comparison: Comparison, folder: Path) -> Page:
    """Return the page of a comparison."""
    measured = [
        (field, name)
        for field, name in (("starved_ns", "GPU idle"), ("blocked_ns", "blocked"))
        if any(getattr(side, field) for change in comparison.changes for side in (change.base, change.head))
    ]
    excerpts = Excerpts()
    for change in comparison.changes:
        excerpts.add(change.row.sites[0])
    per = f" a {comparison.per}" if comparison.per == "step" else ""
    columns = [Column("change", "status", facet=True, order=STATUSES), Column(f"syncs{per}", "counts")]
    columns += [Column(f"{name}{per}", "times") for _, name in measured]
    columns += [
        Column("code", "code", facet=True),
        Column("site", "place"),
        Column("expression", "expression"),
    ]
    return Page(
        title="Changed lines that block the CPU",
        subtitle=" -> ".join(" ".join(rows.trace["command"]) for rows in (comparison.base, comparison.head)),
        totals=list(_totals(comparison)),
        columns=columns,
        sort=None,
        rows=[_row(change, measured, folder) for change in comparison.changes],
        remarks=[
            *filter(None, [comparison.end_remark]),
            *(
                f"outside of steady steps: {count} {status}"
                for status, count in comparison.elsewhere.items()
                if count
            ),
        ],
        sources=excerpts.sources,
    )


def _row(change: SiteChange, measured: list[tuple[str, str]], folder: Path) -> dict[str, Any]:
    row = change.row
    times = [_means(change, field) for field, _ in measured]
    cells = [
        change.status,
        _means(change, "waits"),
        *times,
        row["code"],
        spot_of(row, folder),
        row["expression"],
    ]
    return make_row(
        cells,
        row.sites[0],
        instead=row["instead"] or "",
        heading=heading(row["code"], row["instead"]),
        facts=_facts(change),
    )


def _means(change: SiteChange, field: str) -> list[float]:
    sides = (getattr(change.base, field), getattr(change.head, field))
    return [0.0 if side is None else side.mean for side in sides]


def _facts(change: SiteChange) -> Iterator[tuple[str, str]]:
    for name, side in (("before", change.base), ("after", change.head)):
        if side.row is None:
            yield name, "does not block here"
            continue
        text = f"{number(side.waits.mean)} (± {side.waits.error:.2g}) syncs, line {side.row['line']}"
        if side.blocked_ns is not None:
            text += f", blocked for {duration(side.blocked_ns.mean)} (± {duration(side.blocked_ns.error)})"
        yield name, text


def _totals(comparison: Comparison) -> Iterator[dict[str, str]]:
    for status in STATUSES:
        if count := comparison.count(status):
            yield make_total(status if status != SAME else "as before", f"{count:,}")
    if comparison.per == "step":
        (waits, blocked), (now, blocked_now) = step_totals(comparison.base), step_totals(comparison.head)
        yield make_total("syncs per step", f"{number(waits)} → {number(now)}")
        if comparison.base.timed and comparison.head.timed:
            yield make_total("blocked per step", f"{duration(blocked)} → {duration(blocked_now)}")
