"""How many findings of each rule, the most frequent first."""

from __future__ import annotations

from collections import Counter
from typing import TextIO

from syncscan.report.records import Report, summary


def render(report: Report, stream: TextIO) -> None:
    """Write one line per rule (count, code, name, number of fixes), then the summary."""
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    fixes = Counter(finding.code for finding in report.findings if finding.fix.edits)
    width = len(str(max(counts.values(), default=0)))
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        note = f" ({fixes[code]} with a fix)" if fixes[code] else ""
        stream.write(f"{count:>{width}}  {code}  {name}{note}\n")
    if not report.is_quiet:
        stream.write(f"{summary(report)}\n")
