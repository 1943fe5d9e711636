"""The history of one function: its values as they rose, round by round.

At the fixed point, an instruction may read its own answer back from a cell, and no longer decides anything. In the
round of the answer, the instruction did decide. `History` runs a function again against the cells of each round,
and stores the moments in which values rose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any, NamedTuple

from syncscan.check.infer.dataflow.cells import Cell, Fact
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.lattice import join
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.solve.incremental import ROUNDS
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.transfer.point import Point, Solving, Trace
from syncscan.check.infer.transfer.registry import INSTRUCTIONS


class Moment(NamedTuple):
    """One run of an instruction: the values of its operands, and of the cells that it read."""

    operands: list[AbstractValue]
    cells: list[tuple[Cell[Any], Any]]
    trace: Trace


class History:
    """The moments in which the values of a function rose, of the first round first."""

    def __init__(self, solver: Solving, state: State) -> None:
        self.context = solver.context
        self._solver = solver
        self._state = State(state.function, state.ir, state.base)
        self._point = Point(self)
        self._point.stand_in(self._state)
        self._rises: dict[Slot, list[tuple[AbstractValue, Moment]]] = {}
        self._changes: dict[Cell[Any], list[tuple[int, Any]]] = {}  # of the cells that the function reads
        self._readers: dict[Cell[Any], set[Slot]] = {}
        self._turn = 0  # the last round whose contributions cells have
        self._go_through()
        del self._point  # which refers to this history: a cycle would wait for the garbage collector

    def first(self, slot: Slot, holds: Callable[[AbstractValue], bool]) -> Moment | None:
        """Return the moment in which the value of a slot first had a property, or None."""
        return next((moment for value, moment in self._rises.get(slot, ()) if holds(value)), None)

    # What a point asks of a solver

    def read(self, cell: Cell[Fact], state: State, number: Slot) -> Fact:
        """Return the value of a cell at the end of the round at hand."""
        self._readers.setdefault(cell, set()).add(number)
        value: Fact = self._then(cell)
        return value

    def tell(self, cell: Cell[Fact], fact: Fact, state: State, number: Slot) -> None:
        """See `Solving`; all contributions have been made."""

    def meet(self, function: Function) -> None:
        """See `Solving`; all lambdas have been met."""

    def state_of(self, instruction: int) -> State:
        """See `Solving`."""
        return self._solver.state_of(instruction)

    # The rounds

    def _then(self, cell: Cell[Any]) -> Any:
        changes = self._changes.get(cell)
        if changes is None:
            changes = self._changes[cell] = cell.changes()
        known = bisect_right(changes, self._turn, key=itemgetter(0))
        return changes[known - 1][1] if known else cell.nothing

    def _go_through(self) -> None:
        self._drain(range(self._state.size))
        while (turn := min(self._next(), default=None)) is not None:
            answers = [number for number, asked in self._state.open.items() if asked * ROUNDS <= turn]
            self._turn = turn - 1
            self._point.stratum = turn // ROUNDS
            answered = [(number, *self._run(number)) for number in answers]
            self._turn, self._point.stratum = turn, 0
            due = {use for each in answered if self._rise(*each) for use in self._state.uses[each[0]]}
            for cell, readers in self._readers.items():
                if any(at == turn for at, _ in self._changes[cell]):
                    due |= readers
            self._drain(due)

    def _next(self) -> Iterator[int]:
        """Yield the rounds in which an open question is answered, or a cell changes."""
        for asked in self._state.open.values():
            yield max(self._turn + 1, asked * ROUNDS)
        for changes in self._changes.values():
            yield from (at for at, _ in changes if at > self._turn)

    def _drain(self, due: Iterable[Slot]) -> None:
        self._point.stratum = 0
        queued = {*due}
        queue = sorted(queued)
        while queue:
            number = heappop(queue)
            queued.discard(number)
            if self._rise(number, *self._run(number)):
                for use in {*self._state.uses[number]} - queued:
                    queued.add(use)
                    heappush(queue, use)

    def _run(self, number: Slot) -> tuple[AbstractValue, Moment]:
        """Run one instruction; return its value and the moment."""
        state, point = self._state, self._point
        state.open.pop(number, None)
        point.number, point.trace = number, Trace()
        point.site = point.default_device = None
        operands = [state.values[each] for each in state.ir.operands[number]]
        value = INSTRUCTIONS[Op(state.ir.ops[number])](point, operands, state.ir.data[number])
        cells = [(cell, self._then(cell)) for cell in point.trace.cells]
        return value, Moment(operands, cells, point.trace)

    def _rise(self, number: Slot, value: AbstractValue, moment: Moment) -> bool:
        """Join a value to that of a slot; return whether the slot has risen."""
        whole = join(self._state.values[number], value)
        if whole is self._state.values[number]:
            return False
        self._state.values[number] = whole
        self._rises.setdefault(number, []).append((whole, moment))
        return True
