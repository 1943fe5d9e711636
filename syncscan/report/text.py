"""Findings as text for people: where, what, the source with the expression underlined, why, and the way out."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.text import Text

from syncscan.model import HIDDEN_WAIT, UNUSED_SUPPRESSION, Evidence, Finding, Severity, place_of
from syncscan.reference.templates import codes_with_templates
from syncscan.report.console import Console, console_for
from syncscan.report.records import Report, advice, entry_points, heading, places_of, summary, worst_first
from syncscan.report.safe_text import line_start, safe_line
from syncscan.words import plural

_MAX_LINES = 4  # of an expression
_MAX_COLUMNS = 160  # of a source line: generated code has lines of any length
_MAX_STEPS = 4  # of the evidence
_MAX_STARTS = 5  # of steps
_TAB = "    "
_MODULES = frozenset({"torch", "th", "np", "numpy", "nn", "F", "math", "self"})
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}


def render(report: Report, stream: TextIO) -> None:
    """Write every finding, then the summary."""
    show(report, console_for(stream, report.color))


def show(report: Report, console: Console) -> None:
    """Write every finding, then the summary."""
    texts = {unit: text.split("\n") for unit, text in report.texts.items()}
    for finding, *others in _gathered(worst_first(report.findings), texts):
        for text in _finding(finding, texts.get(finding.unit, ()), others):
            _print(console, text)
        _print(console, Text())
    for finding in report.refuted if report.shows_all else ():
        _print(console, _refuted(finding))
    if report.is_quiet:
        return
    if codes := sorted({finding.code for finding in report.findings} & codes_with_templates()):
        _print(
            console,
            Text(
                f"sync-free components to paste: see {', '.join(f'`syncscan rule {code}`' for code in codes)}"
            ),
        )
    if len(starts := entry_points(report.findings)) > 1:
        _print(console, Text(f"steps start at: hot = {_list(starts)}"))
    _print(console, _summary(report))


def _list(names: Sequence[str]) -> str:
    """Return names as TOML, as many as a person reads."""
    shown = ", ".join(f'"{safe_line(name)}"' for name in names[:_MAX_STARTS])
    more = f"  # and {len(names) - _MAX_STARTS} more" if len(names) > _MAX_STARTS else ""
    return f"[{shown}]{more}"


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True, highlight=False)


def _gathered(findings: Sequence[Finding], texts: Mapping[str, Sequence[str]]) -> Iterable[list[Finding]]:
    """Group the findings that have one cause, each group at the place of its first finding.

    A group holds the findings of one rule in one function, or those that share a variable and its evidence. A line that several functions of the same
    name repeat is a group too. A read of a property joins the synchronization in the body. A synchronization right behind
    another one joins the other, see `Finding.follows`. The one that a fix starts with leads the group.
    """
    at_place = _by_line(findings)
    groups: list[list[Finding]] = []
    of_rule: dict[tuple[str, str, str], list[Finding]] = {}
    of_value: dict[tuple[str, str, tuple[Evidence, ...]], dict[int, list[Finding]]] = {}
    of_line: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        wait = _first_of(finding, at_place)
        rule, value = (
            (wait.path, wait.function, wait.code),
            (wait.path, wait.function, wait.evidence),
        )
        line = (wait.function.rpartition(".")[2], wait.code, _line_of(wait, texts))
        group = of_rule.get(rule)
        around = of_value.get(value, {}) if group is None and wait.evidence else {}
        fed = next((each for each in around.values() if _share_a_variable(each, wait)), None)
        is_fed = fed is not None
        group = fed or group
        if group is None and wait.function != "<module>":
            group = of_line.get(line)
        if group is None:
            groups.append(group := [])
        leads = bool(group) and _first_of(group[0], at_place) is finding
        group.insert(0 if leads else len(group), finding)
        if not is_fed:  # of this rule more may follow, of other variables
            of_rule.setdefault(rule, group)
        of_value.setdefault(value, {})[id(group)] = group
        of_line.setdefault(line, group)
    return groups


def _by_line(findings: Iterable[Finding]) -> dict[tuple[str, int], Finding]:
    """Return the last synchronization of each line; a comment is none."""
    return {(each.unit, each.line): each for each in findings if each.code != UNUSED_SUPPRESSION}


def _share_a_variable(group: Sequence[Finding], finding: Finding) -> bool:
    """Return whether an expression uses a variable or attribute of a group: a model's evidence is that of all that comes of it."""
    own = _variables(finding.expression)
    return any(not own.isdisjoint(_variables(each.expression)) for each in group)


@functools.lru_cache(maxsize=4096)
def _variables(expression: str) -> frozenset[str]:
    """Return the variables of an expression, and the attributes of ``self``; not what is called, nor modules."""
    try:
        nodes = [*ast.walk(ast.parse(expression.strip(), mode="eval"))]
    except SyntaxError:  # part of a statement
        return frozenset()
    called = [each.func for each in nodes if isinstance(each, ast.Call)]
    names = {each.id for each in nodes if isinstance(each, ast.Name) and each not in called}
    own = {
        f"self.{each.attr}"
        for each in nodes
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
    }
    return frozenset((names | own) - _MODULES)


def _line_of(finding: Finding, texts: Mapping[str, Sequence[str]]) -> str:
    """Return the source line of a finding without its indentation; its expression where the text is not at hand."""
    lines = texts.get(finding.unit, ())
    return lines[finding.line - 1].strip() if finding.line <= len(lines) else finding.expression


def _in_body(finding: Finding, at_place: Mapping[tuple[str, int], Finding]) -> Finding:
    """Return the finding in the body of a property that is read, through nested properties; else the finding."""
    seen: set[tuple[str, int]] = set()
    while finding.code == HIDDEN_WAIT and finding.evidence:
        nearest = finding.evidence[0]
        place = (place_of(nearest.path, nearest.cell), nearest.line)
        if place in seen or place not in at_place:
            break
        seen.add(place)
        finding = at_place[place]
    return finding


def _first_of(finding: Finding, at_place: Mapping[tuple[str, int], Finding]) -> Finding:
    """Return the synchronization that a fix starts with: in the body of a property, or before others that find no work left."""
    finding = _in_body(finding, at_place)
    while 0 < finding.follows < finding.line:  # another one on its own line may be itself
        before = at_place.get((finding.unit, finding.follows))
        if before is None:
            break
        finding = before
    return finding


def _finding(finding: Finding, lines: Sequence[str], others: Sequence[Finding]) -> Iterator[Text]:
    yield _head(finding)
    gutter = len(str(finding.end_line))
    yield from _excerpt(finding, lines, gutter)
    margin = " " * gutter
    for note, text in _notes(finding):
        yield Text.assemble((f"{margin} = {note}: ", "bold"), safe_line(text))
    others = sorted(others, key=lambda other: other.unit != finding.unit)  # those of the file need no path
    after = [other for other in others if other.follows]
    same = [other for other in others if not other.follows and other.code == finding.code]
    fed = [other for other in others if not other.follows and other.code != finding.code]
    for note, group in (
        ("the same at", same),
        ("the same cause at", fed),
        ("little to block for at", after),
    ):
        if group:
            places = [
                _from(finding, other) + (f" {other.code}" if other.code != finding.code else "")
                for other in group
            ]
            yield Text.assemble((f"{margin} = {note}: ", "bold"), ", ".join(places))


def _from(finding: Finding, other: Finding) -> str:
    """Return the place of another finding, relative to this finding's file."""
    place = f"{other.line}:{other.column}"
    return place if other.unit == finding.unit else f"{line_start(other.unit)}:{place}"


def _head(finding: Finding) -> Text:
    return Text.assemble(
        (line_start(finding.unit), "bold"),
        (f":{finding.line}:{finding.column}: ", "cyan"),
        (finding.code, _STYLES[finding.severity]),
        f" {safe_line(finding.message)} ",
        (f"[{finding.name}, {finding.confidence.label}, {finding.severity.label}]", "dim"),
    )


def _refuted(finding: Finding) -> Text:
    head = f"{line_start(finding.unit)}:{finding.line}:{finding.column}: {finding.code}"
    return Text(f"{head} refuted by runtime facts: {safe_line(finding.message)}", style="dim")


def _excerpt(finding: Finding, lines: Sequence[str], gutter: int) -> Iterator[Text]:
    last = min(finding.end_line, len(lines), finding.line + _MAX_LINES - 1)
    for number in range(finding.line, last + 1):
        line = lines[number - 1]
        indent = len(line) - len(line.lstrip())
        start = finding.column - 1 if number == finding.line else indent
        end = finding.end_column - 1 if number == finding.end_line else len(line)
        before, marked, after = _window(line, start, end)
        yield Text.assemble((f"{number:>{gutter}} | ", "blue"), before, marked, after)
        underline = " " * cell_len(before) + "^" * max(1, cell_len(marked))
        yield Text.assemble((f"{'':>{gutter}} | ", "blue"), (underline, "red"))
    if last < finding.end_line:
        yield Text.assemble((f"{'':>{gutter}} | ", "blue"), "...")


def _window(line: str, start: int, end: int) -> tuple[str, str, str]:
    """Return the line before, in and after the expression, escaped, and cut to the width of a report."""
    before, marked, after = (
        safe_line(part.replace("\t", _TAB)) for part in (line[:start], line[start:end], line[end:].rstrip())
    )
    if len(marked) > _MAX_COLUMNS:
        marked = marked[:_MAX_COLUMNS] + "..."
    room = max(_MAX_COLUMNS - len(marked), 20)
    if len(before) > room:
        before = "..." + before[-room:]
    if len(after) > room:
        after = after[:room] + "..."
    return before, marked, after


def _notes(finding: Finding) -> Iterator[tuple[str, str]]:
    steps = list(dict.fromkeys(f"{step.text} ({step.place})" for step in finding.evidence))
    for step in steps[:_MAX_STEPS]:
        yield "because", step
    if len(steps) > _MAX_STEPS:
        yield "because", f"... {plural(len(steps) - _MAX_STEPS, 'more step')}, see --output-format json"
    if finding.passed_too:
        yield "also passed at", places_of(finding.passed_too)
    if finding.brought_by:
        yield "introduced by the change of", finding.brought_by
    if finding.switch:
        yield "switched off by", f"`{finding.switch}`, as far as the project shows"
    if finding.follows:
        yield "little to block for", f"line {finding.follows} synchronizes right before"
    if len(finding.call_chain) > 1:
        yield finding.rate, " -> ".join(finding.call_chain)
    said, text = finding.fix.in_words if finding.fix.edits else "", advice(finding)
    if said:
        yield f"fix ({finding.fix.applicability.value})", said
    if text and text != said:
        yield heading(finding.code, text), text


def _summary(report: Report) -> Text:
    style = "bold" if report.findings else "" if report.failures or report.unfixed else "green"
    return Text(summary(report), style=style)
