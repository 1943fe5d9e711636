"""Findings in one line each, for tools that read ``path:line:column: CODE message``."""

from __future__ import annotations

from typing import TextIO

from syncscan.report.records import Report, summary, worst_first
from syncscan.report.safe_text import line_start, safe_line


def render(report: Report, stream: TextIO) -> None:
    """Write a line for each finding, in the order of the text report, then the summary."""
    for finding in worst_first(report.findings):
        place = f"{line_start(finding.unit)}:{finding.line}:{finding.column}"
        stream.write(f"{place}: {finding.code} {safe_line(finding.message)}\n")
    if not report.is_quiet:
        stream.write(f"{summary(report)}\n")
