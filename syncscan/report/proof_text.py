"""A certificate as text for people: the verdict, then each obstacle with the fact that would exclude it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from syncscan.check.prove.answer import Certificate, Group, NamedObstacle
from syncscan.report.safe_text import line_start, safe_line
from syncscan.words import plural

_LONGEST = 100  # characters of an expression


def render(certificate: Certificate, stream: TextIO) -> None:
    """Write the obstacles, then the verdict and its assumptions."""
    stream.writelines(f"{line}\n" for line in lines_of(certificate))


def lines_of(certificate: Certificate) -> Iterator[str]:
    """Yield the lines of a report."""
    for group in Group:
        obstacles = [each for each in certificate.obstacles if each.group is group]
        if obstacles:
            yield f"{group.value} ({len(obstacles)})"
            yield ""
            for each in obstacles:
                yield from _obstacle(each)
            yield ""
    yield verdict(certificate)
    yield "  assuming that:"
    for assumption in certificate.assumptions:
        yield f"  - {safe_line(assumption)}"


def _obstacle(each: NamedObstacle) -> Iterator[str]:
    finding = each.finding
    expression = " ".join(finding.expression.split())
    if len(expression) > _LONGEST:
        expression = f"{expression[:_LONGEST]}..."
    code = "" if finding.code == "SYN701" else f" {finding.code}"
    yield f"  {line_start(finding.unit)}:{finding.line}:{finding.column}:{code} {safe_line(expression)}"
    yield f"      {safe_line(finding.message)}"
    if each.fact:
        yield f"      excluded by: {safe_line(each.fact)}"
    if len(finding.call_chain) > 1:
        yield f"      reached by: {safe_line(' > '.join(finding.call_chain))}"


def verdict(certificate: Certificate) -> str:
    """Return the answer in one line."""
    entry, reached = safe_line(certificate.entry_point), plural(certificate.functions, "function")
    known = f"; {certificate.known} in the baseline" if certificate.known else ""
    if certificate.failures:
        known += f"; {plural(len(certificate.failures), 'file')} could not be analysed"
    if certificate.is_proved:
        return f"proved: no call reachable from {entry} synchronizes ({reached})"
    counts = ", ".join(
        f"{certificate.count(group)} {group.value}" for group in Group if certificate.count(group)
    )
    found = plural(len(certificate.obstacles), "obstacle")
    return f"not proved: {entry} reaches {found} in {reached}{f': {counts}' if counts else ''}{known}"
