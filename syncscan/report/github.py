"""Findings as GitHub workflow commands, which show up beside the lines of a pull request, and as a summary of the job.

The form and its escapes are those of GitHub's documentation, "Workflow commands for GitHub Actions". GitHub
shows the first ten that a step prints of each level; the rest are printed as plain lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

from syncscan.model import Failure, Finding, Severity
from syncscan.report.records import Report, advised, in_file, summary
from syncscan.report.safe_text import line_start, safe_line
from syncscan.words import plural

MOST = 10  # annotations of one level
_LONGEST_SUMMARY = 1000 * 1000  # bytes; GitHub accepts 1 MiB per step, and drops a longer summary

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


@dataclass(frozen=True, slots=True)
class _Annotation:
    level: str
    properties: Mapping[str, object]
    message: str
    plain: str  # the message for readers that see no line beside it

    def command(self) -> str:
        settings = ",".join(f"{key}={_property(str(value))}" for key, value in self.properties.items())
        return f"::{self.level} {settings}::{_data(self.message)}\n"


def render(report: Report, stream: TextIO) -> None:
    """Write a command for each finding and for each file that could not be checked or fixed."""
    printed: Counter[str] = Counter()
    rest = []
    for annotation in _annotations(report):
        printed[annotation.level] += 1
        if printed[annotation.level] <= MOST:
            stream.write(annotation.command())
        else:
            rest.append(annotation)
    stream.writelines(f"{annotation.plain}\n" for annotation in rest)


def _annotations(report: Report) -> Iterator[_Annotation]:
    for what, failures, level in (
        ("not analysed", report.failures, "error"),
        ("not fixed", report.unfixed, "error"),
        ("not checked", report.newer, "warning"),
    ):
        yield from (_failure(what, failure, level, report) for failure in failures)
    yield from (_finding(in_file(finding), report) for finding in report.findings)


def _finding(finding: Finding, report: Report) -> _Annotation:
    path = report.in_repository(finding.path)
    properties = {
        "title": f"{finding.code} {finding.name}",
        "file": path,
        "line": finding.line,
        "endLine": finding.end_line,
        "col": finding.column,
    }
    if finding.line == finding.end_line:  # GitHub rejects columns across lines
        properties["endColumn"] = finding.end_column
    because = [f"{step.text} ({step.place})" for step in finding.evidence[:1]]
    message = "\n".join([finding.message, *because, advised(finding)])
    place = f"{line_start(path)}:{finding.line}:{finding.column}"
    plain = f"{place}: {finding.code} {safe_line(finding.message)}"
    return _Annotation(_LEVELS[finding.severity], properties, message, plain)


def _failure(what: str, failure: Failure, level: str, report: Report) -> _Annotation:
    path = report.in_repository(failure.path)
    line = {"line": failure.line} if failure.line else {}
    properties = {"title": f"syncscan: {what}", "file": path, **line}
    plain = f"{line_start(path)}: {what}: {safe_line(failure.message)}"
    return _Annotation(level, properties, failure.message, plain)


def _data(text: str) -> str:
    """Return the text with GitHub's own escapes, and with ours for other controls."""
    parts = re.split(r"([\r\n])", text.replace("%", "%25"))
    return "".join({"\r": "%0D", "\n": "%0A"}.get(part) or safe_line(part) for part in parts)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def render_summary(report: Report, stream: TextIO) -> None:
    """Write the report as Markdown for the summary of the job, within the limit of its size."""
    head = f"### syncscan: {_cell(summary(report))}\n\n"
    stream.write(head)
    rows = [f"| {a.level} | {_cell(a.plain)} |\n" for a in _annotations(report)]
    if not rows:
        return
    stream.write("| level | finding |\n|---|---|\n")
    room = _LONGEST_SUMMARY - len(head.encode())
    for number, row in enumerate(rows):
        room -= len(row.encode())
        if room < 0:
            more = plural(len(rows) - number, "more is", "more are")
            stream.write(f"\n{more} in the log of the step.\n")
            return
        stream.write(row)
    stream.write("\n")


def _cell(text: str) -> str:
    """Return the text of a table's cell, without Markdown or HTML."""
    return (
        re.sub(r"([\\`*_{}\[\]<>()#+!|~&@-])", r"\\\1", text).replace("\\<", "&lt;").replace("\\&", "&amp;")
    )
