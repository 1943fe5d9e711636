"""The result of a check, as its readers know it: without the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from syncscan.model import Failure, Finding


@dataclass(frozen=True, slots=True)
class FactsUsed:
    """The number of functions whose runtime facts apply, and the number of functions that changed since the run."""

    fitting: int = 0
    stale: int = 0


@dataclass(slots=True)
class CheckResult:
    """The findings, and the files and functions that the check could not analyse."""

    findings: list[Finding] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    facts: FactsUsed = field(default_factory=FactsUsed)
