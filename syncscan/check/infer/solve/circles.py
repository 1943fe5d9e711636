"""Circular support: a contribution to a cell may depend on an earlier value of the same cell.

After a cell loses a contribution, its value may persist only because of such circular contributions. All
functions on a dependency cycle through the cell must therefore be solved again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.value import BOTTOM
from syncscan.check.infer.source.edits import NotFollowedError

_MOST = 200_000  # instructions that are looked at; to begin anew is faster then
# To these a call contributes what it is given. To all others it may also contribute what it has read.
_GIVEN = frozenset({"parameters", "texts", "left out", "virtual places", "virtual arguments"})


class Instructions(Protocol):
    """The part of the solver that this module uses."""

    def state_of(self, instruction: int) -> State:
        """Return the state of the function that contains an instruction, by its number in the whole project."""


class Circles:
    """The dependency cycles through some cells: from a cell to its readers, their contributions, and back."""

    def __init__(self, instructions: Instructions) -> None:
        self._instructions = instructions
        self._told: dict[State, dict[int, list[Cell[Any]]]] = {}
        # By which each cell and each instruction is reached; ``~i`` is instruction ``i`` as it reads.
        self._before: dict[object, list[object]] = {}

    def through(self, cells: Iterable[Cell[Any]]) -> set[State]:
        """Return the states of the functions on these cycles; raise NotFollowedError beyond 200,000 instructions and cells."""
        start = {*cells}
        self._follow(start)
        ahead: deque[object] = deque(cell for cell in start if cell in self._before)
        on_a_way = {*ahead}
        while ahead:
            for before in self._before.get(ahead.popleft(), ()):
                if before not in on_a_way:
                    on_a_way.add(before)
                    ahead.append(before)
        return {self._instructions.state_of(max(each, ~each)) for each in on_a_way if isinstance(each, int)}

    def _follow(self, start: set[Cell[Any]]) -> None:
        """Record the predecessors of everything reachable from some cells."""
        queue: deque[tuple[object, Iterator[object]]] = deque((cell, _readers(cell)) for cell in start)
        seen: set[object] = {*start}
        while queue:
            here, reached = queue.popleft()
            for each in reached:
                self._before.setdefault(each, []).append(here)
                if each in seen:
                    continue
                seen.add(each)
                if len(seen) > _MOST:
                    raise NotFollowedError
                if isinstance(each, int):
                    queue.append((each, self._from(max(each, ~each), is_reading=each < 0)))
                elif isinstance(each, Cell):
                    queue.append((each, _readers(each)))

    def _from(self, instruction: int, *, is_reading: bool) -> Iterator[object]:
        """Yield the users of an instruction's value, and the cells to which the instruction contributes."""
        state = self._instructions.state_of(instruction)
        for cell in self._told_by(state).get(instruction, ()):
            if not is_reading or cell.sort not in _GIVEN:
                yield cell
        slot = instruction - state.base
        if state.values[slot] is not BOTTOM:
            for use in state.uses[slot]:
                yield state.base + use

    def _told_by(self, state: State) -> dict[int, list[Cell[Any]]]:
        """Return the cells to which each instruction of a function contributes."""
        known = self._told.get(state)
        if known is None:
            known = self._told[state] = {}
            own = range(state.base, state.base + state.size)
            for cell in dict.fromkeys(state.told):
                few = cell.contributions if len(cell.contributions) < len(own) else own
                for writer in few:
                    if writer in own and writer in cell.contributions:
                        known.setdefault(writer, []).append(cell)
        return known


def _readers(cell: Cell[Any]) -> Iterator[object]:
    return (~reader for reader in cell.readers)
