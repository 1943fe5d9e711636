"""The outcome of tried fixes: the verified fixes with their saving, and the others with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from syncscan.model import Finding
from syncscan.report.safe_text import safe_line
from syncscan.report.words import steps_seen
from syncscan.verify.run import Run
from syncscan.words import number, plural


def render(
    verified: Sequence[Finding],
    refused: Sequence[tuple[Finding, str]],
    before: Run,
    after: Run,
    stream: TextIO,
) -> None:
    """Write one line for each fix, and a summary."""
    stream.writelines(
        safe_line(f"{_place(finding)}: verified: {finding.fix.in_words}") + "\n" for finding in verified
    )
    stream.writelines(
        safe_line(f"{_place(finding)}: not applied: {reason}") + "\n" for finding, reason in refused
    )
    total = len(verified) + len(refused)
    stream.write(
        safe_line(f"{len(verified)} of {plural(total, 'fix', 'fixes')} verified; {_compared(before, after)}")
        + "\n"
    )


def _compared(before: Run, after: Run) -> str:
    text = f"{plural(before.count, 'synchronization')} before, {after.count} after"
    if before.per_step or after.per_step:
        text += f"; per step {number(before.per_step)} before, {number(after.per_step)} after"
    elif before.steps is not None and not before.steps["steady"]:
        text += f"; {steps_seen(before.steps)}"
    return text


def _place(finding: Finding) -> str:
    return f"{finding.unit}:{finding.line}:{finding.column}: {finding.code}"
