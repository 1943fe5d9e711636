"""Findings in the words of the protocol: diagnostics, hovers and actions. Positions count characters of Python's text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types

from syncscan.check.fix import fixable
from syncscan.check.ignores import ignoring
from syncscan.model import Applicability, Edit, Finding, Severity
from syncscan.report.address import rule_address
from syncscan.report.records import advice, advised, heading, places_of
from syncscan.rule import rule_book

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_REASON = "TODO: say why the finding is suppressed"


def range_of(place: Finding | Edit) -> types.Range:
    """Return the range of a finding or an edit, counted from 0."""
    return types.Range(
        types.Position(place.line - 1, place.column - 1),
        types.Position(place.end_line - 1, place.end_column - 1),
    )


def diagnostic(finding: Finding, where: types.Range) -> types.Diagnostic:
    """Return the diagnostic that an editor underlines."""
    address = rule_address(finding.code)
    return types.Diagnostic(
        where,
        f"{finding.message}. {advised(finding)}" if advised(finding) else finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(address) if address else None,
        source="syncscan",
        related_information=list(_related(finding)),
    )


_MOST_RELATED = 3  # places that an editor lists under a diagnostic


def _related(finding: Finding) -> Iterator[types.DiagnosticRelatedInformation]:
    """Yield the places of the evidence, the nearest first; lines of notebook cells have no address."""
    steps = [step for step in finding.evidence if not step.cell]
    for step in steps[:_MOST_RELATED]:
        start = types.Position(step.line - 1, 0)
        place = types.Location(Path(step.path).resolve().as_uri(), types.Range(start, start))
        yield types.DiagnosticRelatedInformation(place, step.text)


def hover(finding: Finding) -> str:
    """Return why a line blocks, the evidence, and the suggestion, as Markdown."""
    rule = rule_book()[finding.code]
    lines = [f"**{finding.code} {finding.name}** ({finding.severity.label}, {finding.confidence.label})"]
    lines += [f"{finding.message}."]
    if finding.evidence:
        lines += ["\n".join(f"- {step.text} ({step.place})" for step in finding.evidence[:6])]
    if finding.passed_too:
        lines += [f"Also passed at {places_of(finding.passed_too)}"]
    if len(finding.call_chain) > 1:
        lines += [f"{finding.rate.capitalize()}: {' → '.join(finding.call_chain)}"]
    address = rule_address(finding.code)
    code = f"[{finding.code}]({address})" if address else finding.code
    lines += [
        f"**{heading(finding.code, advice(finding)).capitalize()}:** {advice(finding)}",
        f"{rule.summary} ({code})",
    ]
    return "\n\n".join(lines)


def fix_all(findings: Iterable[Finding]) -> list[Edit]:
    """Return the edits of all safe fixes that do not overlap, for `source.fixAll`."""
    edits: list[Edit] = []
    for finding in fixable(findings, unsafe=False):
        mine = finding.fix.edits
        if not any(_overlap(edit, other) for edit in mine for other in edits):
            edits += mine
    return edits


def _overlap(edit: Edit, other: Edit) -> bool:
    start, end = (edit.line, edit.column), (edit.end_line, edit.end_column)
    return start <= (other.end_line, other.end_column) and (other.line, other.column) <= end


def actions(finding: Finding, path: str, text: str) -> Iterator[tuple[str, tuple[Edit, ...], bool]]:
    """Yield the actions for a finding: a title, the edits, and whether the action is preferred."""
    fix = finding.fix
    if fix.edits:
        is_safe = fix.applicability is Applicability.SAFE
        yield f"{fix.in_words}{'' if is_safe else ' (unsafe: read the rule first)'}", fix.edits, is_safe
    for one in ignoring([finding], {path: text}, _REASON):
        yield f"Ignore {finding.code} here, and say why", one.fix.edits, False
