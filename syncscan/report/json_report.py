"""Findings as one JSON object. Its ``version`` changes when a reader could break."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, TextIO

from syncscan import __version__
from syncscan.model import Evidence, Failure, Finding, Fix, When
from syncscan.report.records import Report, advice

FORMAT_VERSION = 1


def render(report: Report, stream: TextIO) -> None:
    """Write the object, indented, and a line end."""
    stream.write(json.dumps(as_data(report), indent=2) + "\n")


def as_data(report: Report) -> dict[str, Any]:
    """Return the object as plain data."""
    return {
        "version": FORMAT_VERSION,
        "tool": {"name": "syncscan", "version": __version__},
        "findings": [finding_data(finding) for finding in report.findings],
        "left_out": {when.value: report.left_out.get(when, 0) for when in When if when is not When.STEP},
        "files": {
            "checked": report.checked,
            "skipped": report.skipped + len(report.newer),
            "failed": [_failure(failure) | {"partial": failure.partial} for failure in report.failures],
            "newer": [_failure(failure) | {"python": failure.python} for failure in report.newer],
            "unfixed": [_failure(failure) for failure in report.unfixed],
        },
        "baseline": {"known": len(report.known), "gone": report.gone},
        "facts": {
            "fitting": report.facts.fitting,
            "stale": report.facts.stale,
            "refuted": [finding_data(finding) for finding in report.refuted]
            if report.shows_all
            else len(report.refuted),
        },
        "timing": {"seconds": round(report.seconds, 3)},
    }


def _cell(number: int) -> dict[str, int]:
    """Return the cell of a notebook, in which lines are counted; nothing for other files."""
    return {"cell": number} if number else {}


def _failure(failure: Failure) -> dict[str, Any]:
    return {"path": failure.path, **_cell(failure.cell), "line": failure.line, "message": failure.message}


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data."""
    return {
        "code": finding.code,
        "name": finding.name,
        "path": finding.path,
        **_cell(finding.cell),
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "function": finding.function,
        "expression": finding.expression,
        "message": finding.message,
        "confidence": finding.confidence.label,
        "severity": finding.severity.label,
        "hot": finding.hot,
        "when": finding.when.value,
        **({"brought_by": finding.brought_by} if finding.brought_by else {}),
        "call_chain": list(finding.call_chain),
        **({"entry_point": finding.entry_point} if finding.entry_point else {}),
        **({"evaluation": True} if finding.evaluation else {}),
        **({"switch": finding.switch} if finding.switch else {}),
        **({"conditional": True} if finding.conditional else {}),
        **({"follows": finding.follows} if finding.follows else {}),
        "evidence": [{**_place(step), "text": step.text} for step in finding.evidence],
        **({"passed_too": [*map(_place, finding.passed_too)]} if finding.passed_too else {}),
        "fix": _fix(finding.fix, advice(finding)),
    }


def _place(step: Evidence) -> dict[str, Any]:
    return {"path": step.path, **_cell(step.cell), "line": step.line}


def _fix(fix: Fix, description: str) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.value,
        "description": description,
        "edits": [dataclasses.asdict(edit) for edit in fix.edits],
    }
