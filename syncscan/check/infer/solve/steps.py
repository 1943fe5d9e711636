"""The steps of a chain of evidence, and which of them a finding shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from syncscan.check.infer.dataflow.cells import Cell
from syncscan.model import Evidence

MOST_STEPS = 6  # steps that are shown: the nearest, and the one where it began


class Step(NamedTuple):
    """One step of a chain: a link of ``cell``, or an origin, which may be on the line of the last link.

    ``is_placing`` marks a call that decides the device, followed by the chain of its device argument.
    """

    path: str
    line: int
    text: str
    is_placing: bool = False
    cell: Cell[Any] | None = None
    is_origin: bool = False


def evidence_of(steps: Sequence[Step]) -> Evidence | None:
    """Return the evidence to show, nearest step first.

    After the step that decides the device, the evidence keeps one step of the device's own chain, and its
    origin.
    """
    placed = next((number for number, each in enumerate(steps) if each.is_placing), len(steps))
    shown = min(placed + 2, MOST_STEPS - 1)
    if len(steps) > shown:
        origin = steps[-1]
        is_link = origin.cell is not None and not origin.is_origin
        steps = steps[:shown] if is_link and placed < shown else [*steps[:shown], origin]
    return chained([(step.path, step.line, step.text) for step in steps])


def chained(steps: Sequence[tuple[str, int, str]]) -> Evidence | None:
    """Return the first of some steps, each with those behind it, of paths, lines and texts."""
    evidence: Evidence | None = None
    for path, line, text in reversed(steps):
        evidence = Evidence(path, line, text, evidence)
    return evidence


def merged(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with consecutive ones on the same line merged into the last."""
    merged: list[Step] = []
    for step in steps:
        if merged and (merged[-1].path, merged[-1].line) == (step.path, step.line):
            is_placing = merged[-1].is_placing or step.is_placing
            merged[-1] = step._replace(cell=merged[-1].cell or step.cell, is_placing=is_placing)
        else:
            merged.append(step)
    return merged
