"""The ways that a search for evidence has before it, the shortest first.

A way follows cells: from a call to the result of the function, from a parameter to an argument. After a call into the function, the
argument of that call counts. The way from a result to a parameter is the same for each call. So the search follows it once, and every
call takes it over. Otherwise there would be as many ways as there are sequences of calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, NamedTuple

from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.ir.instructions import Slot
from syncscan.check.infer.solve.steps import Step


class Node(NamedTuple):
    """An instruction of a function."""

    state: State
    slot: Slot


Calls = tuple[Node, ...]  # that led into a function, the innermost last; () if any call counts
Writer = tuple[Node, "Step | None"]  # an instruction that contributes to a cell, and the step to it
Asked = tuple[Cell[Any], "int | None"]  # a cell, and the item of its value that is asked for


class Part(NamedTuple):
    """A part of a way: its steps, and the number of cells that it follows."""

    steps: tuple[Step, ...]
    cells: int

    def then(self, part: Part) -> Part:
        """Return this part and another one behind it."""
        return Part(self.steps + part.steps, self.cells + part.cells)

    def without(self, part: Part) -> Part:
        """Return this part without the one that it begins with."""
        return Part(self.steps[len(part.steps) :], self.cells - part.cells)


class Caller(NamedTuple):
    """A call that led into a function, with the visit of the code around the call, and the way to the call."""

    call: Node
    inside: Visit
    before: Part


class Crossing(NamedTuple):
    """A way that has reached a parameter, and the call to whose argument it goes on."""

    asked: Asked
    caller: Caller
    way: Part


class Visit:
    """A function that a search came to by calls, and the parameters that it reached there; without callers, any call counts."""

    def __init__(self, *callers: Caller) -> None:
        self.callers = [*callers]
        self.exits: dict[Asked, Part] = {}

    def calls(self) -> Calls:
        """Return the calls by which the search came here first."""
        calls, visit = [], self
        while visit.callers:
            call, visit, _ = visit.callers[0]
            calls.append(call)
        return tuple(reversed(calls))

    def leave(self, asked: Asked, way: Part) -> list[Crossing]:
        """Return how a way goes on that has reached a parameter: by each call, unless the parameter was reached before."""
        if asked in self.exits:
            return []
        self.exits[asked] = way.without(self.callers[0].before)
        return [self._crossing(asked, caller) for caller in self.callers]

    def join(self, caller: Caller) -> list[Crossing]:
        """Return how a way goes on that comes by another call: from the parameters that are reached."""
        self.callers.append(caller)
        return [self._crossing(asked, caller) for asked in self.exits]

    def _crossing(self, asked: Asked, caller: Caller) -> Crossing:
        return Crossing(asked, caller, caller.before.then(self.exits[asked]))


ANYWHERE: Final = Visit()


def visit_by(calls: Calls) -> Visit:
    """Return the visit in which a search begins."""
    visit = ANYWHERE
    for call in calls:
        visit = Visit(Caller(call, visit, Part((), 0)))
    return visit


class Way(NamedTuple):
    """A way to go on: what led there, the visit, the item that is asked for, and instructions, each with the step to it."""

    before: Part
    inside: Visit
    item: int | None
    writers: Iterator[Writer]


class Ways:
    """The ways that are pending."""

    def __init__(self) -> None:
        self._pending: list[tuple[bool, int, int, Way]] = []
        self._numbers = count()
        self._visits: dict[Asked, Visit] = {}

    def add(self, way: Way, *, is_last: bool = False) -> None:
        """Add a way; the last ones come after all others."""
        heappush(self._pending, (is_last, way.before.cells, next(self._numbers), way))

    def enter(self, asked: Asked, caller: Caller) -> tuple[Visit | None, list[Crossing]]:
        """Return the visit of a function by a call; where another call led there before, None and how the way goes on."""
        visit = self._visits.get(asked)
        if visit is not None:
            return None, visit.join(caller)
        visit = self._visits[asked] = Visit(caller)
        return visit, []

    def in_turn(self) -> Iterator[tuple[Part, Visit, int | None, Node]]:
        """Yield the instructions of all pending ways in turn, each with what led to it."""
        while self._pending:
            before, inside, item, writers = heappop(self._pending)[-1]
            for node, step in writers:
                yield before if step is None else before.then(Part((step,), 0)), inside, item, node
