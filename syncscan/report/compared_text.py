"""Findings compared with a run, as text: confirmed and silent ones, missed synchronizations, and the shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from rich.text import Text

from syncscan.report.compared import CONFIRMED, NEVER_RAN, NOT_SEEN, SILENT, Compared, Score
from syncscan.report.console import Console
from syncscan.report.trace_rows import duration
from syncscan.words import plural

MAX_ROWS = 60
_STYLES = {CONFIRMED: "bold red", SILENT: "yellow", NEVER_RAN: "dim", NOT_SEEN: "dim"}
_FIXES = {"safe": "--fix", "unsafe": "--unsafe-fixes"}


def render(compared: Compared, stream: TextIO) -> None:
    """Write the tables."""
    console = Console(file=stream, highlight=False)
    for line in _lines(compared):
        console.print(line, soft_wrap=True)


def _lines(compared: Compared) -> Iterator[Text]:
    yield Text(_headline(compared), style="bold")
    rows = [row for row in compared.findings if row["status"] in {CONFIRMED, SILENT}]
    yield from map(_finding, rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        yield Text(f"and {len(rows) - MAX_ROWS} more; `--output-format json` gives all")
    missed = [wait for wait in compared.waits if not wait["predicted"]]
    yield from map(_missed, missed[:MAX_ROWS])
    if len(missed) > MAX_ROWS:
        yield Text(f"and {len(missed) - MAX_ROWS} more missed; `--output-format json` gives all")
    yield from _scores("rule", compared.by_rule, knows_lines=compared.knows_lines)
    yield from _scores("folder", compared.by_folder, knows_lines=compared.knows_lines)
    if not compared.knows_lines:
        yield Text(
            "which lines ran is not known, and so no precision: trace with --lines, under Python 3.12 or newer"
        )
    if compared.outside:
        yield Text(f"{plural(compared.outside, 'sync')} in files that were not checked")


def _headline(compared: Compared) -> str:
    counts = [f"{compared.count(status)} {status}" for status in _STYLES if compared.count(status)]
    whole = compared.whole
    text = f"syncscan: {plural(len(compared.findings), 'finding')}: {', '.join(counts) or 'none'}"
    text += f"; of {plural(whole.waits, 'line')} that synchronized {whole.predicted} predicted ({_share(whole.recall)})"
    return text + (f"; precision {_share(whole.precision)}" if compared.knows_lines else "")


def _finding(row: dict[str, Any]) -> Text:
    text = Text(f"{row['status']:<20}", style=_STYLES[row["status"]])
    text.append(f"{_cost(row):>18}  {row['code']}  ", style="default not bold")
    text.append(
        f"{row['path']}:{row['line']}:{row['column']} {_short(row['expression'])}", style="default not bold"
    )
    if row["status"] == CONFIRMED and row["fix"] in _FIXES:
        text.append(f"  [{_FIXES[row['fix']]}]", style="green")
    return text


def _missed(wait: dict[str, Any]) -> Text:
    text = Text(f"{'missed':<20}", style="bold magenta")
    where = f"{wait['path']}:{wait['line']} {_short(wait['expression'])}"
    return text.append(f"{_cost(wait):>18}  {wait['code'] or '-':<6}  {where}", style="default not bold")


def _cost(row: dict[str, Any]) -> str:
    if not row["count"]:
        return ""
    blocked = f"{duration(row['blocked_ns'])} in " if row["blocked_ns"] else ""
    return f"{blocked}{plural(row['count'], 'sync')}"


def _short(expression: str) -> str:
    line = " ".join(expression.split())
    return line if len(line) <= 80 else f"{line[:77]}..."


def _scores(name: str, scores: Mapping[str, Score], *, knows_lines: bool) -> Iterator[Text]:
    counted = {key: score for key, score in scores.items() if score.ran or score.waits}
    if not counted:
        return
    width = max(len(name), *map(len, counted))
    yield Text(
        f"{name:<{width}}  {'of findings that ran, blocked':>30}  {'of lines that blocked, found':>30}",
        style="dim",
    )
    for key, score in counted.items():
        precision = f"{score.confirmed} of {score.ran} ({_share(score.precision)})" if knows_lines else "-"
        recall = f"{score.predicted} of {score.waits} ({_share(score.recall)})"
        yield Text(f"{key:<{width}}  {precision:>30}  {recall:>30}")


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
