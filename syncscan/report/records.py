"""What a report is made of; the renderers get this and a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from syncscan.check.files import Failure
from syncscan.model import Finding
from syncscan.rule import rule_book


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one check. ``texts`` holds the source of every file with a finding, by its path."""

    findings: tuple[Finding, ...]
    failures: tuple[Failure, ...] = ()
    checked: int = 0
    skipped: int = 0
    fixed: int = 0
    seconds: float = 0.0
    texts: Mapping[str, str] = field(default_factory=dict)


def advice(finding: Finding) -> str:
    """What to write instead: the finding's own hint, else the rule's."""
    rule = rule_book().get(finding.code)
    return finding.fix.description or (rule.instead if rule else "")


def plural(count: int, one: str, many: str = "") -> str:
    """Return "1 file", "2 files", or "2 fixes" where ``many`` says so."""
    return f"{count} {one if count == 1 else many or one + 's'}"
