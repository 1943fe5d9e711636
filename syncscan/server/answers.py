"""Findings in the words of the protocol: diagnostics, hovers and actions. Positions are those of Python's text."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from syncscan.address import rule_address
from syncscan.check.ignores import ignoring
from syncscan.model import Applicability, Edit, Finding, Severity
from syncscan.report.records import advice, places_of
from syncscan.rule import rule_book

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_REASON = "TODO: say why the wait is meant"


def range_of(place: Finding | Edit) -> types.Range:
    """Where a finding or an edit lies, counted from 0."""
    return types.Range(
        types.Position(place.line - 1, place.column - 1),
        types.Position(place.end_line - 1, place.end_column - 1),
    )


def diagnostic(finding: Finding, where: types.Range) -> types.Diagnostic:
    """Return what an editor underlines."""
    address = rule_address(finding.code)
    return types.Diagnostic(
        where,
        f"{finding.message}. Instead: {advice(finding)}" if advice(finding) else finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(address) if address else None,
        source="syncscan",
    )


def hover(finding: Finding) -> str:
    """Why a line waits, how that is known, and what to write instead, as Markdown."""
    rule = rule_book()[finding.code]
    lines = [f"**{finding.code} {finding.name}** ({finding.severity.label}, {finding.confidence.label})"]
    lines += [f"{finding.message}."]
    if finding.evidence:
        lines += ["\n".join(f"- {step.text} ({step.place})" for step in finding.evidence[:6])]
    if finding.passed_too:
        lines += [f"Also passed at {places_of(finding.passed_too)}"]
    if len(finding.call_chain) > 1:
        lines += [f"Runs in every step: {' → '.join(finding.call_chain)}"]
    address = rule_address(finding.code)
    code = f"[{finding.code}]({address})" if address else finding.code
    lines += [f"**Instead:** {advice(finding)}", f"{rule.summary} ({code})"]
    return "\n\n".join(lines)


def actions(finding: Finding, path: str, text: str) -> Iterator[tuple[str, tuple[Edit, ...], bool]]:
    """What can be done about a finding: a title, the edits, and whether that is what to prefer."""
    fix = finding.fix
    if fix.edits:
        is_safe = fix.applicability is Applicability.SAFE
        yield f"{fix.description}{'' if is_safe else ' (unsafe: read the rule first)'}", fix.edits, is_safe
    for one in ignoring([finding], {path: text}, _REASON):
        yield f"Ignore {finding.code} here, and say why", one.fix.edits, False
