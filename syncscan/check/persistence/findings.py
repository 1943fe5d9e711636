"""Findings as plain data, and back."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from syncscan.model import Applicability, Confidence, Edit, Evidence, Finding, Fix, When

_TEXTS = ("code", "name", "path", "function", "expression", "message", "entry_point", "switch")
_FLAGS = ("evaluation", "conditional")
_NUMBERS = ("line", "column", "end_line", "end_column", "follows")


def plain(finding: Finding) -> list[Any]:
    """Return a finding as data."""
    fix = finding.fix
    return [
        [getattr(finding, name) for name in _TEXTS],
        [getattr(finding, name) for name in _NUMBERS],
        int(finding.confidence),
        finding.when.value,
        [getattr(finding, name) for name in _FLAGS],
        list(finding.call_chain),
        _steps(finding.evidence),
        _steps(finding.passed_too),
        [fix.applicability.value, fix.description, [list(astuple(edit)) for edit in fix.edits], fix.change],
    ]


def parts(data: object, *types: type) -> list[Any]:
    """Return the parts of a list in an entry, each of its type; ValueError where they are not."""
    if not isinstance(data, list) or tuple(map(type, data)) != types:
        raise ValueError("not what was written")
    return data


def each(data: list[Any], *types: type) -> list[list[Any]]:
    """Return the lists in a list, each with parts of these types; ValueError as well."""
    return [parts(part, *types) for part in data]


def finding_of(data: object) -> Finding:
    """Return the finding that data stands for; ValueError where it stands for none."""
    texts, numbers, confidence, when, flags, chain, evidence, too, fix = parts(
        data, list, list, int, str, list, list, list, list, list
    )
    return Finding(
        **dict(zip(_TEXTS, parts(texts, *[str] * len(_TEXTS)), strict=True)),
        **dict(zip(_NUMBERS, parts(numbers, *[int] * len(_NUMBERS)), strict=True)),
        confidence=Confidence(confidence),
        when=When(when),
        **dict(zip(_FLAGS, parts(flags, *[bool] * len(_FLAGS)), strict=True)),
        call_chain=tuple(parts(chain, *[str] * len(chain))),
        evidence=_evidence(each(evidence, str, int, str)),
        passed_too=_evidence(each(too, str, int, str)),
        fix=_fix(fix),
    )


def _steps(evidence: tuple[Evidence, ...]) -> list[list[Any]]:
    return [[step.path, step.line, step.text] for step in evidence]


def _evidence(steps: list[list[Any]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(path, line, text) for path, line, text in steps)


def _fix(data: object) -> Fix:
    applicability, description, edits, change = parts(data, str, str, list, str)
    made = tuple(Edit(*edit) for edit in each(edits, int, int, int, int, str))
    return Fix(Applicability(applicability), description, made, change)
