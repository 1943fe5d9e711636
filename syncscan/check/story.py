"""Which of the reasons that are known for a value to show: those of the code nearest to it."""

from __future__ import annotations

from itertools import takewhile

from syncscan.check.infer.known.cells import Cell
from syncscan.check.infer.values.passing import Told, evidence_in
from syncscan.model import Evidence, Value

_MOST = 6  # steps that are shown: the nearest, and the one where it began


def story(evidence: Evidence | None, path: str) -> tuple[Evidence, ...]:
    """The steps of a chain, the nearest first, for a value that is looked at in a file.

    Where several callers pass the same, or several places set it, the step is about the one whose file is nearest to where the value is
    used: the same file, then the same folder.
    """
    steps: list[Evidence] = []
    seen: set[tuple[str, int]] = set()
    while evidence is not None:
        evidence = _nearest(evidence, path, seen)
        steps.append(Evidence(evidence.path, evidence.line, evidence.text, cell=evidence.cell))
        seen.add((evidence.path, evidence.line))
        path, evidence = evidence.path, evidence.parent
    return tuple(steps if len(steps) <= _MOST else [*steps[: _MOST - 1], steps[-1]])


def _nearest(step: Evidence, path: str, seen: set[tuple[str, int]]) -> Evidence:
    if not isinstance(step, Told) or not isinstance(step.told, Cell):
        return step
    values = [value for value in step.told.contributions.values() if isinstance(value, Value)]
    others = [other for value in values for other in evidence_in(value) if _told_the_same(other, step)]
    fresh = [other for other in others if other is not None and (other.path, other.line) not in seen]
    return max([step, *fresh], key=lambda other: _nearness(other.path, path))


def _told_the_same(other: Evidence | None, step: Told) -> bool:
    return isinstance(other, Told) and other.told is step.told


def _nearness(one: str, other: str) -> tuple[bool, int]:
    parts = zip(one.split("/"), other.split("/"), strict=False)
    return one == other, len(list(takewhile(lambda pair: pair[0] == pair[1], parts)))
