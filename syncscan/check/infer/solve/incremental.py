"""What an edit changes of a fixed point, worked out without the rest.

Some functions are to be solved anew: the cone. All others keep what they contributed, and are seen as they were at the end of each
round. So the cone is solved through all rounds again, and then each cell to which it contributes is looked at: where that
had another value at the end of some round, those that read it belong to the cone too, and it is solved once more.

A cell to which the cone contributes less than before may stay what it was only because others contribute what they have read of
it, by whatever way. So what others contribute to it is doubted: it does not count until nobody outside of the cone reads
anything else without it. Whoever is outside then has not rested on the cell, and what they contribute counts again. In the end no
reader outside of the cone has seen anything else, and the fixed point is that of a cold run, because there is only one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from syncscan.check.infer.dataflow.cells import Cell, united
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.source.edits import NotFollowedError
from syncscan.check.infer.source.index import Function

Changes = list[tuple[int, Any]]  # of a value: the round, and what it was at the end of that


@dataclass(frozen=True, slots=True)
class Revision:
    """The functions of which something else may be known, and whether any may run something else, or in another way."""

    functions: set[Function]
    calls_differ: bool


class Solving(Protocol):
    """What a replay asks of the solver."""

    turn: int
    rounds: dict[int, int]

    def run(self) -> None:
        """Run what is due until nothing is."""

    def answer(self, stratum: int, turn: int, states: Iterable[State]) -> bool:
        """Answer all that some functions leave open; whether there was any."""

    def wake(self, cell: Cell[Any]) -> None:
        """Let those that read a cell run again."""

    def wake_up(self, state: State) -> None:
        """Let every instruction of a function run."""

    def state_of(self, instruction: int) -> State:
        """Return the function of an instruction, by its number in the whole project."""


class Replay:
    """The rounds of a project, gone through again by some functions."""

    def __init__(self, solver: Solving) -> None:
        self._solver = solver
        self.cone: dict[State, None] = {}
        self._before: dict[Cell[Any], Changes] = {}  # of the cells to which the cone contributed, and does
        self._entered: dict[Cell[Any], Changes] = {}  # what those outside contribute in later rounds
        self._removed: set[State] = set()
        # What functions of the cone contributed before, all of them together.
        self._lost: dict[Cell[Any], Any] = {}
        self._doubted: dict[Cell[Any], set[int]] = {}  # the writers whose contributions do not count
        self._settled: dict[Cell[Any], Any] = {}  # of cells that were doubted, what was lost

    def remove(self, state: State) -> None:
        """Take back all that a function contributed and read."""
        first, behind = state.base, state.base + state.size
        is_new = state not in self._removed
        self._removed.add(state)
        for cell in dict.fromkeys(state.told):
            self._note(cell)
            for writer in [each for each in cell.contributions if first <= each < behind]:
                fact = cell.contributions.pop(writer)
                if is_new:
                    self._lost[cell] = united(self._lost.get(cell, cell.nothing), fact)
                if cell.late is not None:
                    cell.late.pop(writer, None)
        for cell in dict.fromkeys(state.reads):
            kept = tuple([each for each in cell.readers if not first <= each < behind])
            cell.readers = kept if len(kept) < 9 else {*kept}
        state.told, state.reads = [], []

    def _note(self, cell: Cell[Any]) -> None:
        if cell not in self._before:
            self._before[cell] = cell.changes()

    def add(self, state: State) -> None:
        """Let a function be solved anew."""
        self.cone[state] = None
        state.is_replayed = True

    def enter(self, cell: Cell[Any]) -> None:
        """Let a cell have the value that it has at the end of the last round, by all that is contributed so far."""
        if cell in self._entered:
            return
        if cell not in self._before and cell.late is None:
            self._entered[cell] = _NO_CHANGES
            return
        changes = cell.changes(self._doubted.get(cell, ()))
        turn = self._solver.turn
        cell.value = next((value for at, value in reversed(changes) if at <= turn), cell.nothing)
        self._entered[cell] = [change for change in changes if change[0] > turn]

    def note_told(self, cell: Cell[Any]) -> None:
        """Note, before it takes one, that the cone contributes to a cell."""
        if cell not in self._before:
            self.enter(cell)
            self._before[cell] = cell.changes()

    def solve(self, strata: Sequence[int], progress: Callable[[str, int, int], None], most: int) -> None:
        """Solve the cone, and all that is found to belong to it.

        NotFollowedError where more than ``most`` functions are solved by that: to begin anew is faster then.
        """
        solved = begun = 0
        while True:
            for done in range(begun, len(self.cone)):
                progress("infer", done, len(self.cone))
            begun = len(self.cone)
            solved += begun
            if solved > most:
                raise NotFollowedError
            self._go_through(strata)
            self._doubt()
            more = {state for cell in self._differing() for state in self._readers(cell)}
            more.difference_update(self.cone)
            if not more and not self._trust():
                break
            for state in sorted(more, key=lambda each: each.base):
                self.add(state)
        for state in self.cone:
            state.is_replayed = False

    def _doubt(self) -> None:
        """Let nothing count that others contribute to the cells to which the cone contributes less than its functions did."""
        for cell in dict.fromkeys((*self._doubted, *self._less())):
            others = {each for each in cell.contributions if not self._solver.state_of(each).is_replayed}
            self._doubted[cell] = others

    def _trust(self) -> bool:
        """Let all contributions count that were doubted; whether any cell has another value by that."""
        doubted, self._doubted = self._doubted, {}
        for cell in doubted:
            self._settled[cell] = self._lost[cell]
        return any(cell.changes(others) != cell.changes() for cell, others in doubted.items())

    def _go_through(self, strata: Sequence[int]) -> None:
        solver = self._solver
        solver.turn = 0
        self._entered.clear()
        for state in self.cone:
            self.remove(state)
            state.reset()
        for cell in [*self._before]:
            self.enter(cell)
        for state in [*self.cone]:
            solver.wake_up(state)
        solver.run()
        for stratum in strata:
            count = 0
            while True:
                turn = stratum * ROUNDS + count
                answered = solver.answer(stratum, turn, [*self.cone])
                if not answered and count >= solver.rounds.get(stratum, 0):
                    break
                solver.turn = turn
                self._advance(turn)
                solver.run()
                count += 1
            solver.rounds[stratum] = max(count, solver.rounds.get(stratum, 0))

    def _advance(self, turn: int) -> None:
        """Let what those outside contribute in a round be there."""
        for cell, changes in self._entered.items():
            while changes and changes[0][0] <= turn:
                _, value = changes.pop(0)
                whole = united(cell.value, value)
                if whole is not cell.value and whole != cell.value:
                    cell.value = whole
                    self._solver.wake(cell)

    def touched(self) -> Iterable[Cell[Any]]:
        """Return the cells to which the cone contributes, or did."""
        return self._before

    def _differing(self) -> Iterator[Cell[Any]]:
        """Yield the cells that had another value at the end of some round."""
        for cell, before in self._before.items():
            if cell.changes(self._doubted.get(cell, ())) != before:
                yield cell

    def _less(self) -> Iterator[Cell[Any]]:
        """Yield the cells to which the cone contributes less than its functions did, and others something that it does not."""
        for cell, lost in self._lost.items():
            if self._settled.get(cell) == lost:
                continue
            told = rest = cell.nothing
            for writer, fact in cell.contributions.items():
                if self._solver.state_of(writer).is_replayed:
                    told = united(told, fact)
                else:
                    rest = united(rest, fact)
            if united(told, lost) != told and united(told, rest) != told:
                yield cell

    def _readers(self, cell: Cell[Any]) -> Iterator[State]:
        for reader in cell.readers:
            yield self._solver.state_of(reader)


ROUNDS = 1000  # of one stratum, at most, for their numbers
_NO_CHANGES: Changes = []
