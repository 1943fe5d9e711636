"""The report of a run: its coverage, and its differences from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from syncscan.measure import opinfo
from syncscan.measure.campaign import Finished
from syncscan.measure.write import entry_text
from syncscan.ops import Operation


def coverage(units: Sequence[Finished]) -> str:
    """Return how much of op_db was measured, and why not the rest."""
    entries = opinfo.entries()
    reasons = {name: reason for name in entries if (reason := opinfo.left_out(name))}
    for unit in units:
        source, _, name = unit["unit"].partition(" ")
        if source == "op_db" and not any("waited" in record for record in unit["records"]):
            errors = [record["error"] for record in unit["records"] if "error" in record]
            reasons[name] = unit["left out"] or (errors[0] if errors else "no sample inputs")
    done = len(entries) - len(reasons)
    lines = [
        f"op_db: {done} of {len(entries)} entries measured ({100 * done / len(entries):.1f}%); left out:"
    ]
    return "\n".join([*lines, *(f"  {name}: {reason}" for name, reason in sorted(reasons.items()))])


def differences(table: Mapping[str, Operation], found: Mapping[str, Operation]) -> list[str]:
    """Return a paragraph for each operation whose conditions were measured otherwise than the table says."""
    lines = []
    for name, entry in found.items():
        if not entry.measured:
            continue
        if (known := table.get(name)) is None or not known.measured:
            lines.append(f"+ {entry_text(entry)}")
        elif _conditions(known) != _conditions(entry):
            lines.append(f"- {entry_text(known)}\n+ {entry_text(entry)}")
    return lines


def _conditions(entry: Operation) -> tuple[frozenset[object], frozenset[object]]:
    return frozenset(entry.blocks), frozenset(entry.sometimes)
