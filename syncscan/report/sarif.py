"""Findings as SARIF 2.1.0 (OASIS), which GitHub's code scanning, Azure DevOps and editors read.

Findings that a comment or the baseline suppresses are included, and marked as such. Columns count Unicode code points, paths are relative to
the top of the repository.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO
from urllib.parse import quote

from syncscan import __version__
from syncscan.model import Confidence, Edit, Evidence, Failure, Finding, Severity
from syncscan.report.address import REPOSITORY, rule_address
from syncscan.report.pages import GROUPS, rule_page
from syncscan.report.records import Report, advised, fingerprints, in_file
from syncscan.rule import Rule, rule_book

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "SRCROOT"
_FINGERPRINT = "syncscan/v1"


def render(report: Report, stream: TextIO) -> None:
    """Write the log, indented, and a line end."""
    json.dump(as_data(report), stream, indent=2)
    stream.write("\n")


def as_data(report: Report) -> dict[str, Any]:
    """Return the log as plain data."""
    rules = list(rule_book().values())
    driver = {
        "name": "syncscan",
        "version": __version__,
        "semanticVersion": __version__,
        **({"informationUri": REPOSITORY} if REPOSITORY else {}),
        "rules": [_rule(rule) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_BASE: {"description": {"text": "the top of the repository"}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": _results(report, [rule.code for rule in rules]),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    page, address = rule_page(rule), rule_address(rule.code)
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{_sentence(rule.summary)} Suggestion: {rule.instead}."},
        "help": {"text": page, "markdown": page},
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": Severity.WARNING.label},
        "properties": {"tags": ["performance", "gpu"], "group": GROUPS[rule.code[:4]]},
    }


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."


def _invocation(report: Report) -> dict[str, Any]:
    failed = [(failure, "error") for failure in (*report.failures, *report.unfixed)]
    failures = [*failed, *((failure, "warning") for failure in report.newer)]
    return {
        "executionSuccessful": not failed,
        "toolExecutionNotifications": [_notification(failure, level, report) for failure, level in failures],
    }


def _notification(failure: Failure, level: str, report: Report) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(failure.path, report)}
    if failure.line:
        place["region"] = {"startLine": failure.line}
    return {
        "level": level,
        "message": {"text": failure.message},
        "locations": [{"physicalLocation": place}],
    }


def _results(report: Report, codes: Sequence[str]) -> list[dict[str, Any]]:
    results: list[tuple[Finding, list[dict[str, str]]]] = [(finding, []) for finding in report.findings]
    results += [(f, [{"kind": "external", "justification": "in the baseline"}]) for f in report.known]
    results += [
        (one.finding, [{"kind": "inSource", **({"justification": one.reason} if one.reason else {})}])
        for one in report.suppressed
    ]
    results.sort(key=lambda item: item[0].position)
    marks = fingerprints(report, (finding for finding, _ in results))
    return [
        _result(in_file(finding), report, codes.index(finding.code), mark)
        | ({"suppressions": how} if how else {})
        for (finding, how), mark in zip(results, marks, strict=True)
    ]


def _result(finding: Finding, report: Report, index: int, fingerprint: str) -> dict[str, Any]:
    place = {"artifactLocation": _artifact(finding.path, report), "region": _region(finding)}
    location: dict[str, Any] = {"physicalLocation": place}
    if finding.function:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.function, "kind": "function"}]
    result = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity.label,
        "rank": {
            Confidence.PROVED: 100.0,
            Confidence.OBSERVED: 90.0,
            Confidence.INFERRED: 70.0,
            Confidence.ASSUMED: 30.0,
        }[finding.confidence],
        "message": {"text": _message(finding)},
        "locations": [location],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
        "properties": {
            "confidence": finding.confidence.label,
            "when": finding.when.value,
            "callChain": list(finding.call_chain),
        },
    }
    if finding.evidence:
        result["relatedLocations"] = [
            _related(step, number, report)
            for number, step in enumerate((*finding.evidence, *finding.passed_too))
        ]
    if finding.fix.edits:
        result["fixes"] = [_fix(finding, report)]
    return result


def _message(finding: Finding) -> str:
    """Return the message and the suggestion; brackets would be links to SARIF."""
    text = f"{finding.message}. {advised(finding)}" if advised(finding) else finding.message
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _related(step: Evidence, number: int, report: Report) -> dict[str, Any]:
    line = 1 if step.cell else max(step.line, 1)
    place = {"artifactLocation": _artifact(step.path, report), "region": {"startLine": line}}
    text = (
        (f"cell {step.cell}, line {step.line}: {step.text}" if step.cell else step.text)
        .replace("\\", "\\\\")
        .replace("[", "\\[")
        .replace("]", "\\]")
    )
    return {"id": number, "physicalLocation": place, "message": {"text": text}}


def _fix(finding: Finding, report: Report) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit), "insertedContent": {"text": edit.text}} for edit in finding.fix.edits
    ]
    change = {"artifactLocation": _artifact(finding.path, report), "replacements": replacements}
    text = f"{finding.fix.in_words} ({finding.fix.applicability.value})"
    return {"description": {"text": text}, "artifactChanges": [change]}


def _artifact(path: str, report: Report) -> dict[str, str]:
    relative = report.in_repository(path)
    if relative.startswith("/"):
        return {"uri": f"file://{quote(relative, errors='backslashreplace')}"}
    return {"uri": quote(relative, errors="backslashreplace"), "uriBaseId": _BASE}


def _region(place: Finding | Edit) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
