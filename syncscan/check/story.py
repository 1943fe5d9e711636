"""Which of the reasons that are known for a value to show: those of the code nearest to it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from syncscan.check.infer.known.cells import Cell
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.values.passing import evidence_in
from syncscan.check.infer.values.steps import Placed, Step
from syncscan.model import Evidence, Value

_MOST = 6  # steps that are shown: the nearest, and the one where it began


class Told(dict[Cell[Any], list[Step]]):
    """What was told to each cell by all who told it: looked up once, as long as nothing is told."""

    def __missing__(self, cell: Cell[Any]) -> list[Step]:
        values = [value for value in cell.told_in_order() if isinstance(value, Value)]
        others = [other for value in values for other in evidence_in(value)]
        steps = self[cell] = [other for other in others if isinstance(other, Step) and other.told is cell]
        return steps


def story(evidence: Evidence | None, path: str, told: Told) -> tuple[Evidence, ...]:
    """The steps of a chain, the nearest first, for a value that is looked at in a file.

    Where several callers pass the same, or several places set it, the step is about the one in the same file as the step before, then about
    the one whose file is nearest to that in which the value is used. Of what is known of the device after the step that placed the value, one step
    is told, and where it began.
    """
    steps: list[Evidence] = []
    here, step = path, evidence
    while step is not None:
        step = _nearest(step, here, steps, path, told)
        steps.append(step)
        here, step = step.path, step.parent
    placed = next((number for number, each in enumerate(steps) if isinstance(each, Placed)), len(steps))
    shown = min(placed + 2, _MOST - 1)
    if len(steps) > shown:
        origin = steps[-1]
        steps = (
            steps[:shown]
            if isinstance(origin, Step) and origin.told is not None and placed < shown
            else [*steps[:shown], origin]
        )
    return tuple(Evidence(each.path, each.line, each.text, cell=each.cell) for each in steps)


def passed_too(
    evidence: Evidence | None, shown: Sequence[Evidence], function: Function, told: Told
) -> tuple[Evidence, ...]:
    """Where else the value is passed to a function, by callers that its story does not follow: each of them waits there."""
    step = evidence
    while step is not None and not (isinstance(step, Step) and _is_passed_to(step, function)):
        step = step.parent
    if step is None or not isinstance(step.told, Cell):
        return ()
    before = {(each.path, each.line) for each in shown}
    places = {(each.path, each.line): each for each in told[step.told]}
    return tuple(
        Evidence(path, line, places[path, line].text, cell=places[path, line].cell)
        for path, line in sorted(places.keys() - before)
    )


def _is_passed_to(step: Step, function: Function) -> bool:
    return isinstance(step.told, Cell) and step.told.key in function.parameters


def _nearest(step: Evidence, here: str, before: Sequence[Evidence], path: str, told: Told) -> Evidence:
    if not isinstance(step, Step) or not isinstance(step.told, Cell):
        return step
    seen = {(each.path, each.line) for each in before}
    fresh = [other for other in told[step.told] if (other.path, other.line) not in seen]

    def nearness(other: Evidence) -> tuple[bool, bool, int, int]:
        return (other.path == here, other.path == path, _shared(other.path, path), _shared(other.path, here))

    return max([step, *fresh], key=nearness) if fresh else step


@functools.lru_cache(maxsize=4096)
def _shared(one: str, other: str) -> int:
    """How many folders two files have in common, from the top."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
