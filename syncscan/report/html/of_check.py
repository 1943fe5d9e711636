"""The findings of a check as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TextIO

from syncscan.check.fix import apply_edits
from syncscan.model import REPORTED_CONFIDENCE, Confidence, Finding, Severity, When
from syncscan.report.html.page import Column, Excerpts, Page, make_row, make_total, write
from syncscan.report.records import Report, advice, heading, summary, worst_first
from syncscan.words import plural

_CONTEXT = 2


def render(report: Report, stream: TextIO) -> None:
    """Write the page."""
    write(make_page(report), stream)


def make_page(report: Report) -> Page:
    """Return the page of a check."""
    lines = {path: text.split("\n") for path, text in report.texts.items()}
    excerpts = Excerpts()
    rows = []
    for finding in worst_first(report.findings):
        source = lines.get(finding.unit, [])
        place = _place(finding)
        excerpts.add(place, lines=source)
        rows.append(
            make_row(
                [finding.severity.label, finding.when.value, finding.confidence.label, finding.code,
                 f"{finding.unit}:{finding.line}", finding.expression, finding.message],
                place,
                instead=advice(finding),
                heading=heading(finding.code, advice(finding)),
                fix=_fix(finding, source),
                evidence=_evidence(finding),
            )
        )  # fmt: skip
    return Page(
        title="Lines that block the CPU",
        subtitle=summary(report),
        totals=list(_totals(report)),
        columns=[
            Column("severity", "status", facet=True, order=_labels(Severity)),
            Column("when", "word", facet=True, order=tuple(when.value for when in When)),
            Column("confidence", "word", facet=True, order=_labels(REPORTED_CONFIDENCE)),
            Column("code", "code", facet=True),
            Column("site", "place"),
            Column("expression", "expression"),
            Column("message", "text"),
        ],
        sort=None,
        rows=rows,
        remarks=[f"{failure.place}: {failure.message}" for failure in (*report.failures, *report.unfixed)],
        sources=excerpts.sources,
    )


def _labels(levels: Iterable[Severity | Confidence]) -> tuple[str, ...]:
    return tuple(level.label for level in sorted(levels, reverse=True))


def _place(finding: Finding) -> dict[str, Any]:
    names = ("line", "column", "end_line", "end_column", "function", "expression")
    return {"path": finding.unit} | {name: getattr(finding, name) for name in names}


def _totals(report: Report) -> Iterator[dict[str, str]]:
    severities = Counter(finding.severity for finding in report.findings)
    yield make_total(
        "findings",
        f"{len(report.findings):,}",
        f"in {plural(len({f.path for f in report.findings}), 'file')}",
    )
    for severity in sorted(Severity, reverse=True):
        if severities[severity]:
            yield make_total(f"{severity.label}s", f"{severities[severity]:,}")
    yield make_total("files checked", f"{report.checked:,}")
    if report.suppressed:
        yield make_total("suppressed", f"{len(report.suppressed):,}", "by comments")
    if report.known:
        yield make_total("known", f"{len(report.known):,}", "to the baseline")


def _evidence(finding: Finding) -> Iterator[str]:
    for step in dict.fromkeys(f"{step.text} ({step.place})" for step in finding.evidence):
        yield f"because {step}"
    if finding.passed_too:
        yield f"also passed at {', '.join(step.place for step in finding.passed_too)}"
    if len(finding.call_chain) > 1:
        yield f"{finding.rate}: {' -> '.join(finding.call_chain)}"
    if finding.brought_by:
        yield f"introduced by the change of {finding.brought_by}"


def _fix(finding: Finding, lines: Sequence[str]) -> dict[str, Any] | None:
    if not finding.fix.edits:
        return None
    return {"title": f"Fix ({finding.fix.applicability.value})", "lines": _diff(finding, lines)}


def _diff(finding: Finding, lines: Sequence[str]) -> list[str]:
    """Return the fix as hunks of the changed lines and their context."""
    hunks: list[str] = []
    edits = sorted(finding.fix.edits, key=lambda edit: edit.line)
    while edits:
        group = [edits.pop(0)]
        while edits and edits[0].line <= max(edit.end_line for edit in group) + 2 * _CONTEXT:
            group.append(edits.pop(0))
        first, last = group[0].line, max(edit.end_line for edit in group)
        before = list(lines[first - 1 : last])
        moved = [
            replace(edit, line=edit.line - first + 1, end_line=edit.end_line - first + 1) for edit in group
        ]
        part = replace(finding, fix=replace(finding.fix, edits=tuple(moved)))
        after = apply_edits("\n".join(before), [part]).split("\n")
        start = max(first - 1 - _CONTEXT, 0)
        hunks += [f"@@ line {first} @@"]
        hunks += [f" {line}" for line in lines[start : first - 1]]
        hunks += [f"-{line}" for line in before]
        hunks += [f"+{line}" for line in after]
        hunks += [f" {line}" for line in lines[last : last + _CONTEXT]]
    return hunks
