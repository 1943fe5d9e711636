"""A trace as text: the sites of a step, or all sites, the costliest first; then the other phases, short."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.style import Style
from rich.text import Text

from syncscan.report.console import Console
from syncscan.report.ranks import rank_remarks
from syncscan.report.records import heading
from syncscan.report.safe_text import safe_values
from syncscan.report.trace_rows import (
    PHASES,
    STEP,
    Row,
    Rows,
    check_remarks,
    duration,
    share,
    short_path,
    spot_of,
)
from syncscan.report.words import steps_seen
from syncscan.trace.sites import spot
from syncscan.trace.trace import why_untraced
from syncscan.words import number, plural

MAX_SITES = 30
MAX_REMARKS = 60
MAX_RANKS = 16
MAX_PLACES = 3  # that are named of a phase
_ALL = "`-o DIR` and `--output-format json` give all"
_NO_WARM_UP = (STEP, "capture", "compile", "outside")
_WHERE = "site, expression, suggestion"

# The name of a column and what it says of a row.
_Column = tuple[str, Callable[[Row], str]]


def render(trace: dict[str, Any], stream: TextIO, width: int) -> None:
    """Write the report, notes ``width`` characters wide; nothing in the trace commands the terminal."""
    console = Console(file=stream, width=width, highlight=False)
    for line in lines(trace, width, Path.cwd()):
        console.print(line, soft_wrap=True)


def lines(trace: dict[str, Any], width: int, folder: Path) -> Iterator[Text]:
    """Yield the lines of the report, the most important first; paths are relative to a folder."""
    rows = Rows(safe_values(trace))
    yield Text(_headline(rows), style="bold")
    shown = rows.of_steps if rows.steady else rows.of_phases(*_NO_WARM_UP)
    if shown:
        yield from _table(
            _step_columns(rows) if rows.steady else _columns(rows), shown[:MAX_SITES], width, folder
        )
    if len(shown) > MAX_SITES:
        yield Text(f"and {plural(len(shown) - MAX_SITES, 'more site')}; {_ALL}")
    if rows.steady:
        yield from _apart(rows, folder)
    for line in _shortest(list(_remarks(rows, folder))):
        yield Text(line)


def _shortest(remarks: list[str]) -> list[str]:
    """Return the first remarks and the last, which is how the command ended."""
    if len(remarks) <= MAX_REMARKS:
        return remarks
    left_out = len(remarks) - MAX_REMARKS
    return [*remarks[: MAX_REMARKS - 1], f"and {plural(left_out, 'more remark')}; {_ALL}", remarks[-1]]


def _headline(rows: Rows) -> str:
    if not rows.traced:
        return f"syncscan: nothing was traced: {why_untraced(rows.trace)}"
    counts = _of_steps(rows) if rows.steady else _of_program(rows)
    return f"syncscan: {counts} in {plural(len(rows.traced), 'process', 'processes')}{_ranks(rows.traced)}"


def _of_steps(rows: Rows) -> str:
    steps = rows.trace["steps"]
    waits = rows.waits(STEP)
    text = f"{plural(waits.count, 'sync')} in {plural(rows.steady, 'steady step')} of {steps['target']}"
    if waits.count:
        text += f", {number(waits.count / rows.steady)} per step"
    if rows.simulated:
        return f"{text} (a simulated GPU: no times)"
    if waits.count and rows.timed:
        one, whole = waits.over(rows.steady), steps["wall_ns"] / rows.steady
        text += f"; a step of {duration(whole)} is blocked for {duration(one.blocked_ns)} ({share(one.blocked_ns, whole)})"
        if one.starved_ns is not None:
            text += (
                f", and the GPU then idles for {duration(one.starved_ns)} ({share(one.starved_ns, whole)})"
            )
    return text


def _of_program(rows: Rows) -> str:
    waits, places = rows.waits(*_NO_WARM_UP), len(rows.of_phases(*_NO_WARM_UP))
    how = "would have been blocked" if rows.simulated else "was blocked"
    text = f"the CPU {how} {plural(waits.count, 'time')} at {plural(places, 'site')}"
    if rows.simulated:
        return f"{text} (a simulated GPU: no times)"
    if rows.timed:
        text += f", {duration(waits.blocked_ns)} of {duration(rows.wall_ns)}"
        text += f" ({share(waits.blocked_ns, rows.wall_ns)})"
    return text


def _ranks(traced: list[dict[str, Any]]) -> str:
    ranks = sorted({p["rank"] for p in traced if p["rank"] is not None})
    if len(ranks) > MAX_RANKS:
        return f", {len(ranks)} ranks"
    return f", ranks {', '.join(map(str, ranks))}" if ranks else ""


def _step_columns(rows: Rows) -> list[_Column]:
    whole = rows.trace["steps"]["wall_ns"] / rows.steady
    columns: list[_Column] = [("per step", lambda row: number(row.per_step))]
    if rows.starved:
        columns.append(("GPU idle", lambda row: _optional(row.step_starved_ns)))
    if rows.timed:
        columns.append(("blocked", lambda row: duration(row.step_blocked_ns) if row.timed else "-"))
        columns.append(("of step", lambda row: share(row.step_blocked_ns, whole) if row.timed else "-"))
    return columns


def _columns(rows: Rows) -> list[_Column]:
    wall = rows.wall_ns
    columns: list[_Column] = [("syncs", lambda row: str(row.all.count))]
    if rows.starved:
        columns.append(("GPU idle", lambda row: _optional(row.all.starved_ns)))
    if rows.timed:
        columns.append(("blocked", lambda row: duration(row.all.blocked_ns) if row.timed else "-"))
        columns.append(("of wall", lambda row: share(row.all.blocked_ns, wall) if row.timed else "-"))
    return columns


def _optional(nanoseconds: float | None) -> str:
    return "-" if nanoseconds is None else duration(nanoseconds)


def _table(columns: list[_Column], rows: Sequence[Row], width: int, folder: Path) -> Iterator[Text]:
    names = [name for name, _ in columns]
    cells = [[cell(row) for _, cell in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]

    def numbers(texts: Sequence[str]) -> str:
        return "".join(f"{text:>{width}}  " for text, width in zip(texts, widths, strict=True))

    yield Text(f"{numbers(names)}{'code':<8}{_WHERE}", style="dim")
    margin = " " * (sum(widths) + 2 * len(widths) + 8)
    for row, texts in zip(rows, cells, strict=True):
        head = Text(f"{numbers(texts)}{row['code'] or '-':<8}")
        yield head.append(where(row, folder)).append(f" in {row['function']}")
        for text, style in _below(row):
            room = max(width - len(margin) - 2, 40)
            for line in textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False):
                yield Text(f"{margin}  ").append(line, style=style)


def where(row: Row, folder: Path) -> Text:
    """Return the place of a row, as a link in terminals with links."""
    path = row["path"]
    link = Path(path).as_uri() if path.startswith("/") and "\\" not in path else None
    return Text(spot_of(row, folder), style=Style(color="cyan", link=link))


def _below(row: Row) -> Iterator[tuple[str, str]]:
    if row["expression"]:
        yield row["expression"], ""
    if details := _details(row):
        yield f"({'; '.join(details)})", "dim"
    if row.step_starved_ns:
        yield f"without this sync a step could be shorter by up to {duration(row.step_starved_ns)}", "yellow"
    if row["instead"]:
        yield f"{heading(row['code'], row['instead'])}: {row['instead']}", "green"


def _details(row: Row) -> list[str]:
    all_waits = row.all.count
    details = [
        f"{'all' if waits.count == all_waits else waits.count} in {PHASES[phase]}"
        for phase, waits in row.phases.items()
        if phase in ("compile", "capture")
    ]
    details += [f"backward of {node}" for node in row.each("backward_of")]
    if row.each("breaks_graph"):
        details.append("breaks the graph of a compiled function")
    if row.each("uncomputed"):
        details.append("reads what was not computed")
    details += _spread(row)
    if any(site["missed_by"] for site in row.sites):
        details.append(f"{', '.join(row.each('api'))}, unseen by debug mode")
    return details


def _spread(row: Row) -> list[str]:
    ranks = {rank: count for rank, count in row.merged("ranks").items() if rank.isdigit()}
    if len(ranks) < 2:
        return [f"rank {rank} only" for rank in ranks if rank != "0"]
    low, high = min(ranks.values()), max(ranks.values())
    return [
        f"{low} on each of {len(ranks)} ranks" if low == high else f"{low} to {high} on {len(ranks)} ranks"
    ]


def _apart(rows: Rows, folder: Path) -> Iterator[Text]:
    """Yield the synchronizations outside of steady steps, a line per phase."""
    parts = [(name, phase, rows.of_phases(phase)) for phase, name in PHASES.items()]
    parts = [part for part in parts if part[2]]
    if parts:
        yield Text("outside the steady state:")
    for name, phase, group in parts:
        waits = rows.waits(phase)
        text = f"  {name}: {plural(waits.count, 'sync')} at {plural(len(group), 'site')}"
        text += f", blocked {duration(waits.blocked_ns)}" if waits.blocked_ns else ""
        line = Text(f"{text}, {'most ' if len(group) > MAX_PLACES else ''}at ")
        for index, row in enumerate(group[:MAX_PLACES]):
            line.append(", " if index else "").append(where(row, folder))
            line.append(f" ({row.phases[phase].count})")
        yield line


def _remarks(rows: Rows, folder: Path) -> Iterator[str]:
    trace = rows.trace
    steps = trace["steps"]
    if steps is not None:
        yield steps_seen(steps)
        yield from check_remarks(trace)
    elif trace["proposed_step"]:
        yield _proposal(trace["proposed_step"], rows, folder)
    for row in rows.allowed:
        waits = row.all
        blocked = f", {duration(waits.blocked_ns)}" if row.timed else ""
        yield f"allowed ({row['allowed']}): {plural(waits.count, 'time')}{blocked}, at {where(row, folder)}"
    if trace["uncomputed"]:
        yield _uncomputed(trace["uncomputed"], trace["decided"])
    yield from rank_remarks(rows, folder)
    yield from _process_remarks(trace["processes"])
    if trace["command"]:  # unknown where the launcher was killed
        yield f"`{_shortened(trace['command'])}` ended with exit status {trace['exit_status']}"


def _uncomputed(counts: dict[str, int], decided: dict[str, int]) -> str:
    """Return the kernels that the simulation did not compute, and the reads of their results."""
    text = f"not computed, {plural(len(counts), 'kernel')} for the GPU alone: {_most(counts)}; their results are zero"
    if not decided:
        return f"{text}, and the CPU read none of them"
    return f"{text}, and what the program decides may differ where the CPU read results of {_most(decided)}"


def _most(counts: dict[str, int]) -> str:
    """Return the names with the highest counts."""
    named = ", ".join(f"{name} ({count})" for name, count in list(counts.items())[:MAX_PLACES])
    return named + (f" and {len(counts) - MAX_PLACES} more" if len(counts) > MAX_PLACES else "")


def _proposal(proposed: dict[str, Any], rows: Rows, folder: Path) -> str:
    waits = rows.waits(STEP, *PHASES).count
    place = spot(short_path(proposed["path"], folder), proposed["line"])
    return (
        f"to count by step: --step {proposed['target']}, which the loop at {place} calls"
        f" ({proposed['waits']} of {plural(waits, 'sync')} below it)"
    )


def _process_remarks(processes: list[dict[str, Any]]) -> list[str]:
    """Return the remarks on processes; equal remarks are merged."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for process in processes:
        remarks = [("", f": {note}") for note in process.get("notes", ())]
        if not process["hooked"]:
            remarks.append(("not hooked: ", f": {process['why']}"))
        elif process["detectors"] and not process["wall_ns"]:
            remarks.append(("", " ended before it wrote any syncs"))
        for remark in remarks:
            grouped.setdefault(remark, []).append(process)
    return [f"{before}{_named(group)}{after}" for (before, after), group in grouped.items()]


def _named(processes: list[dict[str, Any]]) -> str:
    one = f"{processes[0]['pid']} ({_shortened(processes[0]['argv'])})"
    return f"process {one}" if len(processes) == 1 else f"{len(processes)} processes, such as {one}"


def _shortened(command: list[str]) -> str:
    return " ".join(" ".join(command).split())[:80]
