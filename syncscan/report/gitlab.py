"""Findings as GitLab's code quality report, which a merge request shows.

The fields are those of GitLab's documentation, "Code Quality report format"; an empty report is an empty list.
"""

from __future__ import annotations

import json
from typing import Any, TextIO

from syncscan.model import Failure, Severity
from syncscan.report.records import Report, advised, fingerprints, in_file
from syncscan.report.safe_text import safe_line

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report, stream: TextIO) -> None:
    """Write the list, indented, and a line end."""
    marks = fingerprints(report, report.findings)
    data = [
        _issue(
            report.in_repository(finding.path),
            finding.line,
            f"{finding.code}: {finding.message}. {advised(finding)}",
            check_name=finding.code,
            severity=_SEVERITIES[finding.severity],
            fingerprint=mark,
        )
        for finding, mark in zip(map(in_file, report.findings), marks, strict=True)
    ]
    data += [_failure(failure, report) for failure in (*report.failures, *report.unfixed)]
    stream.write(json.dumps(data, indent=2) + "\n")


def _failure(failure: Failure, report: Report) -> dict[str, Any]:
    path = report.in_repository(failure.path)
    return _issue(
        path,
        max(failure.line, 1),
        failure.message,
        check_name="syncscan-failure",
        severity="critical",
        fingerprint=f"syncscan-failure:{path}:{failure.line}:{failure.message}",
    )


def _issue(path: str, line: int, description: str, **fields: str) -> dict[str, Any]:
    where = {"path": path, "lines": {"begin": line}}
    return {"description": safe_line(description), **fields, "location": where}
