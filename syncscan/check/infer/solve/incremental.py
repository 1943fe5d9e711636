"""Incremental analysis: update a fixed point after an edit, without the functions that the edit does not affect.

The functions to solve again form the cone. The contributions of all other functions stay, and appear in the
round in which they were made. The cone repeats all rounds of the analysis. Then some cells to which the cone
contributes may differ at the end of some round. Their readers join the cone, and the cone is solved once more.

A cell to which the cone contributes less may keep its value only because others contribute what they have read of the cell.
So the other contributions to the cell are doubted: they do not count until no reader outside the cone sees
a difference. No function outside then depends on the cell, and their contributions count again. In the end no
reader outside the cone has seen another value. A unique fixed point is then that of a cold run.

A cell that widens to anything is the exception. On the way there, its readers contribute what follows from its first values, and
contributions stay: the results of the first functions that a value may be. A cone sees the widened value at once, so only a cold
run finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from syncscan.check.infer.dataflow.cells import Cell, united
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.value import BOTTOM, TOP
from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.source.edits import NotFollowedError
from syncscan.check.infer.source.index import Function

Changes = list[tuple[int, Any]]  # of a value: the round, and what it was at the end of that


@dataclass(frozen=True, slots=True)
class Revision:
    """The functions whose facts may have changed, and whether the call graph may have changed."""

    functions: set[Function]
    calls_differ: bool


class Solving(Protocol):
    """The part of the solver that a replay uses."""

    turn: int
    rounds: dict[int, int]

    def run(self) -> Any:
        """Run the worklist until it is empty."""

    def answer(self, stratum: int, turn: int, states: Iterable[State]) -> bool:
        """Answer all open questions of some functions up to a stratum; return whether there were any."""

    def wake(self, cell: Cell[Any]) -> None:
        """Put the readers of a cell on the worklist."""

    def wake_up(self, state: State) -> None:
        """Put every instruction of a function on the worklist."""

    def state_of(self, instruction: int) -> State:
        """Return the state of the function that contains an instruction, by its number in the whole project."""


class Replay:
    """A repetition of all rounds by the functions of the cone."""

    def __init__(self, solver: Solving) -> None:
        self._solver = solver
        self.cone: dict[State, None] = {}
        self._before: dict[Cell[Any], Changes] = {}  # of the cells to which the cone contributed, and does
        self._entered: dict[Cell[Any], Changes] = {}  # what those outside contribute in later rounds
        self._removed: set[State] = set()
        self._widened: dict[State, set[Slot]] = {}  # where they read what had widened
        # What functions of the cone contributed before, all of them together.
        self._lost: dict[Cell[Any], Any] = {}
        self._doubted: dict[Cell[Any], set[int]] = {}  # the writers whose contributions do not count
        self._settled: dict[Cell[Any], Any] = {}  # of cells that were doubted, what was lost

    def remove(self, state: State) -> None:
        """Remove the contributions and reads of a function from all cells."""
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

    def _note_widened(self, state: State) -> None:
        """Record where a function reads what has widened to anything; raise NotFollowedError where the order of steps has shown.

        A call contributes to the functions that a value may be, and keeps their results when more functions widen the value.
        The cone sees the widened value at once.
        """
        doors = _widened_doors(state)
        if any(state.values[door] is not BOTTOM and state.values[door] is not TOP for door in doors):
            raise NotFollowedError
        if any(state.base + door in cell.contributions for door in doors for cell in state.told):
            raise NotFollowedError
        self._widened[state] = doors

    def _is_newly_widened(self, state: State) -> bool:
        """Return whether a function reads something widened that the function, as it is written now, did not read before."""
        return not _widened_doors(state) <= self._widened.get(state, set())

    def _note(self, cell: Cell[Any]) -> None:
        if cell not in self._before:
            self._before[cell] = cell.changes()

    def add(self, state: State) -> None:
        """Add a function to the cone."""
        self.cone[state] = None
        state.is_replayed = True

    def enter(self, cell: Cell[Any]) -> None:
        """Set a cell to its value at the end of the last round, from all current contributions."""
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
        """Save the history of a cell before the cone's first contribution."""
        if cell not in self._before:
            self.enter(cell)
            self._before[cell] = cell.changes()

    def solve(self, strata: Sequence[int], progress: Callable[[str, int, int], None], most: int) -> None:
        """Solve the cone until no further function must join the cone.

        Raises NotFollowedError where this would solve more than ``most`` functions, since a cold run is then
        faster. The cone must not read what has widened to anything either, before or after.
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
        if any(map(self._is_newly_widened, self.cone)):
            raise NotFollowedError

    def _doubt(self) -> None:
        """Doubt what others contribute to the cells to which the cone contributes less than before."""
        for cell in dict.fromkeys((*self._doubted, *self._less())):
            others = {each for each in cell.contributions if not self._solver.state_of(each).is_replayed}
            self._doubted[cell] = others

    def _trust(self) -> bool:
        """Count all doubted contributions again; return whether any cell changes by that."""
        doubted, self._doubted = self._doubted, {}
        for cell in doubted:
            self._settled[cell] = self._lost[cell]
        return any(cell.changes(others) != cell.changes() for cell, others in doubted.items())

    def _go_through(self, strata: Sequence[int]) -> None:
        solver = self._solver
        solver.turn = 0
        self._entered.clear()
        for state in self.cone:
            if state not in self._removed:
                self._note_widened(state)
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
        """Apply the contributions that functions outside the cone make in a round."""
        for cell, changes in self._entered.items():
            while changes and changes[0][0] <= turn:
                _, value = changes.pop(0)
                whole = united(cell.value, value)
                if whole is not cell.value and whole != cell.value:
                    cell.value = whole
                    self._solver.wake(cell)

    def touched(self) -> Iterable[Cell[Any]]:
        """Return the cells to which the cone contributes or contributed."""
        return self._before

    def _differing(self) -> Iterator[Cell[Any]]:
        """Yield the cells that differ at the end of some round."""
        for cell, before in self._before.items():
            if cell.changes(self._doubted.get(cell, ())) != before:
                yield cell

    def _less(self) -> Iterator[Cell[Any]]:
        """Yield the cells where the cone contributes less than before, and other contributions exceed its own."""
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


def _widened_doors(state: State) -> set[Slot]:
    """Return the calls and attribute reads of a function whose callee or object has widened to anything."""
    ops, operands = state.ir.ops, state.ir.operands
    found = {
        slot
        for slot, op in enumerate(ops)
        if op in _DOORS and state.values[(operands[slot] or (0,))[0]] is TOP
    }
    for cell in state.reads:
        if cell.value is TOP:
            inside = (reader - state.base for reader in cell.readers)
            found.update([each for each in inside if 0 <= each < state.size and ops[each] in _DOORS])
    return found


_DOORS = frozenset({Op.ATTRIBUTE, Op.CALL, Op.CALL_METHOD})
ROUNDS = 1000  # of one stratum, at most, for their numbers
_NO_CHANGES: Changes = []
