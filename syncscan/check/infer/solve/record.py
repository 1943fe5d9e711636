"""The record of a function's final evaluation: the values in each statement that may block."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from syncscan.check.infer.ir.instructions import Slot
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.transfer.conditions import Bound, blocking_case, queued_case
from syncscan.model import UNKNOWN, Value
from syncscan.ops import Case, Effect

Place = tuple[int, int]  # the line and the column on which a statement begins
# Line, column, end line, end column as `ast` has them: columns count bytes from 0.
Position = tuple[int, int, int, int]


def position_of(node: ast.expr) -> Position:
    """Return the source range of an expression, as `ast` has it."""
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


@dataclass(slots=True)
class Candidate:
    """A statement (only its head, if compound) with the inferred facts about its expressions."""

    node: ast.stmt
    value: Callable[[Slot], Value]  # of a slot of its function, as rules see it
    slots: dict[Position, Slot] = field(default_factory=dict)
    names: dict[Position, str] = field(default_factory=dict)  # of the functions that are called
    calls: dict[Position, Callable[[], Bound]] = field(default_factory=dict)  # with values as rules see them
    cases: dict[Position, Case] = field(default_factory=dict)
    queued: dict[Position, Case] = field(default_factory=dict)  # of copies that the host does not wait for
    waits: dict[Position, Value] = field(default_factory=dict)  # of properties that are read
    mirrors: dict[Position, Value] = field(
        default_factory=dict
    )  # of host arrays that drift from what is there
    blocks: bool = False
    switch: str = ""  # that keeps the statement from running, see `Listener.switched_off`

    def at(self, position: Position) -> Value:
        """Return the value of the expression at a source range, or UNKNOWN."""
        slot = self.slots.get(position)
        return UNKNOWN if slot is None else self.value(slot)

    def call_at(self, position: Position) -> Bound | None:
        """Return the call of a known operation at a source range, or None."""
        call = self.calls.get(position)
        return None if call is None else call()


# Every statement of a function, those that may block in the order in which they were found to.
Statements = dict[Place, Candidate]
# For a property whose body waits: a GPU value whose evidence leads to the line that does.
Waits = dict[Function, Value]


class Recorder:
    """The record of one function: one candidate for each statement."""

    def __init__(self, waits: Waits, value: Callable[[Slot], Value]) -> None:
        """Take ``value``, which returns the value of a slot in the form for rules."""
        self._waits = waits
        self._value = value
        self._open: list[Candidate] = []
        self.statements: Statements = {}

    def begin(self, node: ast.stmt, switch: str) -> None:
        """Begin a statement; statements nest."""
        self._open.append(Candidate(node, self._value, switch=switch))

    def end(self) -> None:
        """End the innermost statement; a later evaluation, as in a loop, replaces the record."""
        record = self._open.pop()
        place = (record.node.lineno, record.node.col_offset)
        known = self.statements.get(place)
        if record.blocks and known is not None and not known.blocks:
            del self.statements[place]  # those that may block stand in the order in which they were found to
        self.statements[place] = record

    def slot_of(self, node: ast.expr) -> Slot | None:
        """Return the slot of an expression of the innermost statement, or None."""
        return self._open[-1].slots.get(position_of(node)) if self._open else None

    def value(self, node: ast.expr, slot: Slot) -> None:
        """Record the slot of an expression."""
        if self._open:
            self._open[-1].slots[position_of(node)] = slot

    def candidate(self) -> None:
        """Mark the statement: it requests the truth, text or number of a GPU value."""
        if self._open:
            self._open[-1].blocks = True

    def operation(
        self, node: ast.expr, named: ast.expr, name: str, bound: Bound, call: Callable[[], Bound]
    ) -> None:
        """Record a call of an operation in the table, under its name at ``named``; ``call`` returns the call in the form for rules."""
        if not self._open:
            return
        record, position = self._open[-1], position_of(node)
        record.names[position_of(named)] = name
        record.calls[position] = call
        case, queued = blocking_case(bound), queued_case(bound)
        if case is not None:
            record.cases[position] = case
        elif queued is not None:
            record.queued[position] = queued
        record.blocks |= is_candidate(bound, case, queued)

    def asked(self, named: ast.expr, name: str) -> None:
        """Record a call of a function that a rule lists in `asks`, by its name at ``named``."""
        if self._open:
            self._open[-1].names[position_of(named)] = name
            self._open[-1].blocks = True

    def mirror(self, node: ast.expr, source: Value) -> None:
        """Record an in-place addition to a host array that mirrors the GPU tensor ``source``, and that no code refreshes."""
        if self._open:
            self._open[-1].mirrors[position_of(node)] = source
            self._open[-1].blocks = True

    def property_read(self, node: ast.expr, methods: tuple[Function, ...]) -> None:
        """Record the read of a property that runs one of these methods, if any blocks, and none keeps its result."""
        if any(method.is_cached_property for method in methods):
            return
        wait = next((self._waits[method] for method in methods if method in self._waits), None)
        if wait is not None and self._open:
            self._open[-1].waits[position_of(node)] = wait
            self._open[-1].blocks = True


def is_candidate(bound: Bound, case: Case | None, queued: Case | None) -> bool:
    """Return whether the matcher must see a call: it blocks, or is an asynchronous copy to or from pinned memory."""
    if case is not None or queued is None:
        return case is not None
    return queued.effect is Effect.DOWNLOAD or any(value.pinned for value in bound.operands())
