"""Functions that are to be free of synchronization, which every check holds to that."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from syncscan.check.files import Source
from syncscan.check.prove.source import Solved
from syncscan.check.result import CheckResult
from syncscan.model import Finding

_MARK = re.compile(r"(?i)#\s*syncscan:\s*sync-free\b")


def has_contracts(sources: Sequence[Source], named: Sequence[str]) -> bool:
    """Return whether a function is named, or has the comment."""
    return bool(named) or any("sync-free" in source.text and _MARK.search(source.text) for source in sources)


def keep_contracts(
    result: CheckResult,
    solver: Solved,
    sources: Sequence[Source],
    named: Sequence[str],
    targets: Container[str] | None,
) -> None:
    """Add the violations of contracts to a result, each place once."""
    if not has_contracts(sources, named):
        return
    from syncscan.check.prove.certificate import Proofs  # noqa: PLC0415 (most projects have no contract)

    modules = {source.module for source in sources}
    proofs = Proofs(solver, result.findings, sources)
    found: dict[tuple[object, ...], Finding] = {}
    for entry_point in proofs.contracts([name for name in named if name.partition(":")[0] in modules]):
        for finding in proofs.violations(entry_point):
            if targets is None or finding.path in targets:
                found.setdefault(finding.position, finding)
    result.findings += found.values()
    result.findings.sort(key=lambda finding: finding.position)
