"""Findings as GitHub workflow commands, which show up beside the lines of a pull request.

The form and its escapes are those of GitHub's documentation, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TextIO

from syncscan.model import Failure, Finding
from syncscan.report.records import Report, advice
from syncscan.report.safe_text import safe_line


def render(report: Report, stream: TextIO) -> None:
    """Write one command for each finding and for each file that could not be checked or fixed."""
    stream.writelines(_finding(finding) for finding in report.findings)
    stream.writelines(_failure("not analysed", failure) for failure in report.failures)
    stream.writelines(_failure("not checked", failure, "warning") for failure in report.newer)
    stream.writelines(_failure("not fixed", failure) for failure in report.unfixed)


def _finding(finding: Finding) -> str:
    properties = {
        "title": f"{finding.code} {finding.name}",
        "file": finding.path,
        "line": finding.line,
        "endLine": finding.end_line,
        "col": finding.column,
    }
    if finding.line == finding.end_line:  # GitHub rejects columns across lines
        properties["endColumn"] = finding.end_column
    because = [f"{step.text} ({step.path}:{step.line})" for step in finding.evidence[:1]]
    message = "\n".join([finding.message, *because, f"Instead: {advice(finding)}"])
    return _command(properties, message)


def _failure(what: str, failure: Failure, level: str = "error") -> str:
    line = {"line": failure.line} if failure.line else {}
    return _command({"title": f"syncscan: {what}", "file": failure.path, **line}, failure.message, level)


def _command(properties: Mapping[str, object], message: str, level: str = "error") -> str:
    settings = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{level} {settings}::{_data(message)}\n"


def _data(text: str) -> str:
    """The text with GitHub's own escapes, and with ours for what it has none for."""
    parts = re.split(r"([\r\n])", text.replace("%", "%25"))
    return "".join({"\r": "%0D", "\n": "%0A"}.get(part) or safe_line(part) for part in parts)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
