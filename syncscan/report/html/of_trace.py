"""A trace as a page: its places, a flame graph of the blocked time, a timeline by process and thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from syncscan.report.html.page import Column, Excerpts, Page, make_row, make_total, write
from syncscan.report.ranks import rank_remarks
from syncscan.report.records import heading
from syncscan.report.speedscope import split_frame, weighted_stacks
from syncscan.report.trace_rows import (
    PHASES,
    STEP,
    Row,
    Rows,
    check_remarks,
    duration,
    place_of,
    share,
    short_path,
    spot_of,
)
from syncscan.report.words import warm_up_of
from syncscan.trace.sites import spot
from syncscan.words import noun, number, plural

MAX_STACKED = 5_000  # sites, the costliest, of which the page has the stacks


def render(trace: dict[str, Any], stream: TextIO) -> None:
    """Write the page."""
    write(make_page(trace, Path.cwd()), stream)


def make_page(trace: dict[str, Any], folder: Path) -> Page:
    """Return the page of a trace."""
    return _Maker(Rows(trace), folder).page()


class _Maker:
    def __init__(self, rows: Rows, folder: Path) -> None:
        self._rows = rows
        self._folder = folder
        self._trace = rows.trace
        self._all = [
            *(rows.of_steps or []),
            *(row for row in rows.rows if STEP not in row.phases),
            *rows.allowed,
        ]
        self._index = {place_of(row.sites[0]): at for at, row in enumerate(self._all)}
        self._frames: dict[str, int] = {}

    def page(self) -> Page:
        excerpts = Excerpts()
        for row in self._all:
            excerpts.add(row.sites[0])
        columns = list(self._columns())
        made = [self._row(row, at, columns) for at, row in enumerate(self._all)]
        measures = [
            {"name": "blocked", "type": "time"},
            {"name": "GPU idle", "type": "time"},
            {"name": "waits", "type": "count"},
        ]
        used = [self._rows.timed, self._rows.starved, True]
        return Page(
            title="Lines that blocked the CPU",
            subtitle=" ".join(self._trace["command"]),
            totals=list(self._totals()),
            remarks=[
                *check_remarks(self._trace),
                *rank_remarks(self._rows, self._folder),
                *self._notes(),
            ],
            columns=[column for column, _ in columns],
            sort=next(at for at, (column, _) in enumerate(columns) if column.type in {"time", "count"}),
            rows=made,
            sources=excerpts.sources,
            measures=[measure for measure, there in zip(measures, used, strict=True) if there],
            stacks=list(self._stacks(used)),
            frames=list(self._frames),  # last: everything else has named its frames by now
            timeline=_from_zero(list(self._timeline())),
        )

    def _columns(self) -> Iterator[tuple[Column, Any]]:
        rows = self._rows
        if rows.steady:
            whole = self._trace["steps"]["wall_ns"] / rows.steady
            if rows.starved:
                yield Column("GPU idle per step", "time"), lambda row: row.step_starved_ns
            if rows.timed:
                yield (
                    Column("blocked per step", "time"),
                    lambda row: row.step_blocked_ns if row.timed else None,
                )
                yield (
                    Column("of a step", "share"),
                    lambda row: row.step_blocked_ns / whole if whole and row.timed else None,
                )
            yield Column("syncs per step", "count"), lambda row: row.per_step
        elif rows.starved:
            yield Column("GPU idle", "time"), lambda row: row.all.starved_ns
        if rows.timed:
            yield Column("blocked", "time"), lambda row: row.all.blocked_ns if row.timed else None
        yield Column("syncs", "count"), lambda row: row.all.count
        yield Column("code", "code", facet=True), lambda row: row["code"]
        yield Column("when", "word", facet=True), _when
        yield Column("site", "place"), lambda row: spot_of(row, self._folder)
        yield Column("expression", "expression"), lambda row: row["expression"]

    def _row(self, row: Row, at: int, columns: list[tuple[Column, Any]]) -> dict[str, Any]:
        return make_row(
            [cell(row) for _, cell in columns],
            row.sites[0],
            instead=row["instead"] or "",
            heading=heading(row["code"], row["instead"]),
            facts=_facts(row),
            stacks=list(self._stacks_of(row)) if at < MAX_STACKED else [],
        )

    def _stacks_of(self, row: Row) -> Iterator[tuple[str, list[int]]]:
        stacks = [(stack["count"], stack["frames"]) for site in row.sites for stack in site["stacks"]]
        for count, frames in sorted(stacks, key=lambda stack: -stack[0])[:3]:
            yield (
                f"Stack of {count} of {plural(row.all.count, 'sync')}",
                [self._frame(frame) for frame in frames],
            )

    def _frame(self, frame: str) -> int:
        path, line, name = split_frame(frame)
        shown = f"{name}  {spot(short_path(path, self._folder), line)}" if path else name
        return self._frames.setdefault(shown, len(self._frames))

    def _stacks(self, used: list[bool]) -> Iterator[list[Any]]:
        sites = sorted(self._trace["sites"], key=lambda site: -site["blocked_ns"]["total"])[:MAX_STACKED]
        for site in sites:
            place = self._index[place_of(site)]
            for frames, waits, blocked, starved in weighted_stacks({"sites": [site]}):
                weights = [
                    value for value, there in zip((blocked, starved, waits), used, strict=True) if there
                ]
                yield [[self._frame(frame) for frame in frames], weights, place]

    def _timeline(self) -> Iterator[dict[str, Any]]:
        sites = self._trace["sites"]
        for process in self._trace["timeline"]:
            lanes: dict[str, dict[str, Any]] = defaultdict(lambda: {"steps": [], "waits": []})
            for phase, thread, began, lasted, waits, blocked in process["steps"]:
                lanes[thread]["steps"].append([began, lasted, phase, waits, blocked])
            for site, thread, began, lasted in process["waits"]:
                place = self._index[place_of(sites[site])] if site < len(sites) else None
                lanes[thread]["waits"].append([began, lasted, place])
            name = f"rank {process['rank']}" if process["rank"] is not None else f"pid {process['pid']}"
            for thread, lane in lanes.items():
                yield _lane(f"{name}, {thread}", lane)

    def _totals(self) -> Iterator[dict[str, str]]:
        rows = self._rows
        if rows.steady:
            waits, steps = rows.waits(STEP), self._trace["steps"]
            one, whole = waits.over(rows.steady), steps["wall_ns"] / rows.steady
            yield make_total(
                "syncs per step",
                number(waits.count / rows.steady),
                f"{waits.count:,} in {rows.steady:,} {noun(rows.steady, 'steady step')}",
            )
            if one.starved_ns is not None:
                yield make_total(
                    "GPU idle per step",
                    duration(one.starved_ns),
                    f"{share(one.starved_ns, whole)} of {duration(whole)}",
                )
            if rows.timed:
                yield make_total(
                    "blocked per step",
                    duration(one.blocked_ns),
                    f"{share(one.blocked_ns, whole)} of {duration(whole)}",
                )
        everything = rows.waits(STEP, *PHASES)
        note = (
            f"blocked for {duration(everything.blocked_ns)}"
            if rows.timed
            else "on a simulated GPU"
            if rows.simulated
            else ""
        )
        yield make_total("syncs in all", f"{everything.count:,}", note)
        ranks = {process["rank"] for process in rows.traced if process["rank"] is not None}
        yield make_total(
            "processes",
            f"{len(rows.traced):,}",
            f"{len(ranks):,} {noun(len(ranks), 'rank')}" if ranks else "",
        )

    def _notes(self) -> Iterator[str]:
        notes = [note for process in self._trace["processes"] for note in process.get("notes", ())]
        yield from list(dict.fromkeys(notes))[:20]
        if steps := self._trace["steps"]:
            yield f"steps are the calls of {steps['target']}{warm_up_of(steps)}"
        if self._trace["exit_status"]:
            yield f"the command ended with exit status {self._trace['exit_status']}"


def _when(row: Row) -> str:
    if row["allowed"] is not None:
        return "allowed"
    phases = {STEP: "in a step", "outside": "outside of steps"} | {
        p: PHASES[p] for p in ("warmup", "capture", "compile")
    }
    return phases.get(next(iter(sorted(row.phases, key=lambda phase: phase != STEP))), "")


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    for phase, waits in row.phases.items():
        blocked = f", blocked for {duration(waits.blocked_ns)}" if row.timed else ""
        yield (
            {STEP: "in steady steps"}.get(phase, PHASES.get(phase, phase)),
            f"{waits.count:,} {noun(waits.count, 'sync')}{blocked}",
        )
    yield from _times(row)
    if row["allowed"] is not None:
        yield "allowed", row["allowed"]
    yield "CUDA calls", ", ".join(row.each("api"))
    for node in row.each("backward_of"):
        yield "backward of", node
    yield from _remarks(row)
    yield "threads", _counted(row.merged("threads"))
    yield "ranks", _counted(row.merged("ranks"))
    if len(row.merged("rank_ns")) > 1 and row.timed:
        times = {rank: duration(ns) for rank, ns in row.merged("rank_ns").most_common(8)}
        yield "blocked by rank", ", ".join(f"{rank}: {time}" for rank, time in times.items())
    if any(site["missed_by"] for site in row.sites):
        yield "not seen by", "debug mode"


def _remarks(row: Row) -> Iterator[tuple[str, str]]:
    if row.each("breaks_graph"):
        yield "torch.compile", "breaks the graph of a compiled function"
    if row.each("uncomputed"):
        yield "on a GPU", "may read another number: this one was not computed"


def _times(row: Row) -> Iterator[tuple[str, str]]:
    if row.step_starved_ns:
        yield (
            "without this sync",
            f"a step could be shorter by up to {duration(row.step_starved_ns)}: so long the GPU idles after it",
        )
    if row.timed:
        yield (
            "one sync",
            f"median {duration(max(s['blocked_ns']['p50'] for s in row.sites))}, longest {duration(max(s['blocked_ns']['max'] for s in row.sites))}",
        )


def _counted(numbers: Any) -> str:
    shown = ", ".join(f"{name}: {count:,}" for name, count in numbers.most_common(8))
    return shown + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")


def _from_zero(lanes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lanes with times from the earliest on: a browser's numbers do not hold nanoseconds since 1970."""
    first = min((lane["first"] for lane in lanes), default=0)
    return [lane | {"first": lane["first"] - first, "last": lane["last"] - first} for lane in lanes]


def _lane(name: str, lane: dict[str, Any]) -> dict[str, Any]:
    """Return one thread's times, counted from the first."""
    both = [*lane["steps"], *lane["waits"]]
    first = min(began for began, *_ in both)
    for item in both:
        item[0] -= first
    return {"name": name, "first": first, "last": first + max(item[0] + item[1] for item in both), **lane}
