"""The current instruction: the services that a transfer function uses to read cells, contribute, and dispatch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.dataflow.cells import ANY_TEXT, Cell, Fact
from syncscan.check.infer.dataflow.context import Context
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.basic import NONE
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import TESTS_FOR_NONE, CallSite, Slot
from syncscan.check.infer.source.index import FIELDS, Class, Function, Module, Virtual
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound, blocking_case, needs_no_gpu_operand
from syncscan.check.infer.transfer.registry import (
    ATTRIBUTES,
    CALLABLES,
    DECLARED,
    FUNCTIONS,
    METHODS,
    PACKAGES,
    STUBBED,
)
from syncscan.model import Device, Kind
from syncscan.ops import Effect

_NOTHING: Final = nullcontext()
DEFAULT_DEVICE: Final = (
    "torch.set_default_device()"  # kept like a variable of the module that calls it at its top
)

SETTLED_STRATUM: Final = 1  # what may be one of several functions or objects, by all that the source shows
DECLARED_STRATUM: Final = 2  # what annotations and defaults promise
OPEN_STRATUM: Final = 3  # what follows where nothing is known of a value
ASSUMED_STRATUM: Final = 4  # what conventions assume
USED_STRATUM: Final = 5  # what the use of a value shows where nothing else does


class Solving(Protocol):
    """The part of the solver that a point uses."""

    context: Context

    def read(self, cell: Cell[Fact], state: State, number: Slot) -> Fact:
        """Read a cell on behalf of an instruction, which becomes its reader."""

    def tell(self, cell: Cell[Fact], fact: Fact, state: State, number: Slot) -> None:
        """Contribute to a cell on behalf of an instruction."""

    def meet(self, function: Function) -> None:
        """Add a lambda to the project."""

    def state_of(self, instruction: int) -> State:
        """Return the state of the function that contains an instruction, by its number in the whole project."""


class Recording(Protocol):
    """An observer of instructions that run again for the matcher."""

    def operation(self, node: ast.expr, named: ast.expr, name: str, bound: Bound) -> None:
        """Record a call of an operation in the table, under its name at ``named``."""

    def asked(self, named: ast.expr, name: str) -> None:
        """Record a call of a function that a rule lists in `asks`."""

    def property_read(self, node: ast.expr, methods: tuple[Function, ...]) -> None:
        """Record the read of a property, which runs one of these methods."""

    def mirror(self, node: ast.expr, source: AbstractValue) -> None:
        """Record an in-place addition to a host mirror that no code refreshes."""

    def candidate(self) -> None:
        """Record that the statement requests the truth, text or number of a GPU value."""


class Origin(NamedTuple):
    """The reason for the device of a value: a text, where ``{}`` stands for the call, and a line (0: that of the instruction)."""

    text: str
    path: str
    line: int
    is_placing: bool = False  # the call decides the device, by an argument


class Sighting(NamedTuple):
    """A runtime fact about a value, beside the inferred value."""

    origin: Origin
    known: AbstractValue
    seen: AbstractValue


@dataclass(slots=True)
class Trace:
    """The cells read and the origins decided by an instruction that runs again for provenance."""

    cells: list[Cell[Any]] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    sighting: Sighting | None = None


class Point:
    """The instruction at hand, in the function at hand."""

    __slots__ = (
        "answers", "context", "default_device", "function", "is_allowed", "is_later", "module", "node", "number", "recorder",
        "site", "solver", "state", "stratum", "trace",
    )  # fmt: skip

    state: State
    function: Function
    module: Module
    answers: bool

    def __init__(self, solver: Solving) -> None:
        self.solver = solver
        self.context = solver.context
        self.number: Slot = 0
        self.stratum = USED_STRATUM  # up to which questions are answered now
        self.default_device: AbstractValue | None = None
        self.is_allowed = False
        self.is_later = False  # what is called now, torch calls later
        self.site: CallSite | None = None
        self.trace: Trace | None = None
        self.recorder: Recording | None = None
        self.node: ast.expr | None = None  # of the instruction, while it is recorded

    def stand_in(self, state: State) -> None:
        """Move to a function."""
        self.state = state
        self.function = state.function
        self.module = state.function.module
        self.answers = not state.function.works_on_the_host

    # What is known, and what this instruction adds to it

    def read(self, cell: Cell[Fact]) -> Fact:
        """Read a cell; the instruction runs again when the cell changes."""
        if self.trace is not None:
            self.trace.cells.append(cell)
        return self.solver.read(cell, self.state, self.number)

    def tell(self, cell: Cell[Fact], fact: Fact) -> None:
        """Contribute to a cell."""
        if cell.contributions.get(self.state.base + self.number) is fact:
            return
        if self.recorder is None and self.trace is None:
            self.solver.tell(cell, fact, self.state, self.number)

    def may_tell(self, other: Module) -> bool:
        """Return whether code here counts as evidence about another module; code outside the project, such as tests, counts only there."""
        return other.is_outside or not self.module.is_outside

    def asks(self, of: Class | Module | str, name: str) -> None:
        """Record the lookup of a name in a class, a module or an import, for invalidation."""
        self.context.known.asks(self.function, (of, name))

    def settles(self, value: AbstractValue) -> bool:
        """Return whether a value is settled: if it may be one of several functions or objects, once all of them are known."""
        return not value.is_wide or self._ask(SETTLED_STRATUM)

    def declare(self) -> bool:
        """Return whether declarations may answer open questions in the current stratum."""
        return self._ask(DECLARED_STRATUM)

    def stays_open(self) -> bool:
        """Return whether a value stays unknown after declarations, in the current stratum."""
        return self._ask(OPEN_STRATUM)

    def assume(self) -> bool:
        """Return whether conventions may answer open questions in the current stratum.

        The answer would be the GPU, so the result is always False in code that prepares inputs on the host.
        """
        return self.answers and self._ask(ASSUMED_STRATUM)

    def use(self) -> bool:
        """Return whether the use of an unknown value decides: the use of a tensor on the GPU."""
        return self.answers and self._ask(USED_STRATUM)

    def _ask(self, stratum: int) -> bool:
        if self.stratum >= stratum:
            return True
        known = self.state.open.get(self.number)
        if known is None or known > stratum:
            self.state.open[self.number] = stratum
        return False

    def origin(
        self,
        text: str,
        module: Module | None = None,
        node: ast.AST | None = None,
        *,
        is_placing: bool = False,
    ) -> None:
        """Record the reason for the device of a value that this instruction decides; ``{}`` stands for the call."""
        if self.trace is not None:
            line = getattr(node, "lineno", 1) if node is not None else 0
            self.trace.origins.append(Origin(text, (module or self.module).path, line, is_placing))

    def saw(self, text: str, where: Function, known: AbstractValue, seen: AbstractValue) -> None:
        """Record a runtime fact about a value, beside the inferred value."""
        if self.trace is not None and self.trace.sighting is None:
            origin = Origin(text, where.module.path, getattr(where.node, "lineno", 1))
            self.trace.sighting = Sighting(origin, known, seen)

    def never_runs(self) -> bool:
        """Return whether an operand is the part that is not None of a value that is always None."""
        ir, values = self.state.ir, self.state.values
        tested = [each for each in ir.operands[self.number] if each >= 0 and ir.ops[each] in TESTS_FOR_NONE]
        return any(values[ir.operands[each][0]] is NONE for each in tested)

    def place_of(self, name: str) -> Device:
        """Return the device that a name promises, by the conventions or by the project's fields in host memory."""
        return Device.CPU if name in self.module.kept else self.context.place_of(name)

    def fields(self, cls: Class) -> list[str]:
        """Return the fields of a record, in order."""
        self.asks(cls, FIELDS)
        return cls.fields()

    def texts(self, value: AbstractValue, slot: Slot) -> frozenset[str]:
        """Return the texts that a value may be, with `ANY_TEXT` for unknown ones; for a parameter, those that callers pass."""
        passed = self.context.parameter_at(self.state, slot)
        if passed is not None and passed.name in self.context.known_by_text(self.function):
            default = passed.default.value if isinstance(passed.default, ast.Constant) else None
            own = {default} if isinstance(default, str) else set()
            return self.read(self.context.known.texts[passed]) | own
        if value is BOTTOM and not self.stays_open():
            return frozenset()
        return frozenset(
            option.payload if option.kind is Kind.STRING and option.payload is not None else ANY_TEXT
            for option in value.options
            if option.kind is Kind.STRING or option.kind is Kind.UNKNOWN
        )

    # The doors: each leads to what has registered itself for the kind of value

    def attribute(self, base: AbstractValue, name: str) -> AbstractValue:
        """Return the value of ``base.name``; a property read runs the property."""
        if not self.settles(base):
            return BOTTOM
        handler = ATTRIBUTES.get(base.kind)
        return handler(self, base, name) if handler is not None else BOTTOM

    def call(self, callee: AbstractValue, call: Call) -> AbstractValue:
        """Return the result of calling a value, by its kind."""
        if not self.settles(callee):
            return BOTTOM
        handler = CALLABLES.get(callee.kind)
        return handler(self, callee, call) if handler is not None else BOTTOM

    def call_later(self, callee: AbstractValue, call: Call) -> None:
        """Pass arguments to a callee that torch calls, after the function at hand has handed it on."""
        before, self.is_later = self.is_later, True
        self.call(callee, call)
        self.is_later = before

    def call_method(self, base: AbstractValue, name: str, call: Call) -> AbstractValue:
        """Return the result of ``base.name(...)``."""
        if not self.settles(base):
            return BOTTOM
        handler = METHODS.get(base.kind)
        return handler(self, base, name, call) if handler is not None else BOTTOM

    def call_outside(self, name: str, call: Call) -> AbstractValue:
        """Return the result of calling an external function by its full name."""
        self.note_asked(name, call)
        special = FUNCTIONS.get(name)
        if special is not None:
            self.note_operation(name, call)
            return special(self, call)
        package = DECLARED if name in self.context.table.own else name.partition(".")[0]
        if self.context.stub(name) is not None:
            package = STUBBED
        handler = PACKAGES.get(package)
        return handler(self, name, call) if handler is not None else BOTTOM

    # What may block

    def note_called(self, callee: Function | Virtual, call: Call) -> None:
        """Record a call of a function of the project in the call graph."""
        callees = self.state.callees
        before = callees.get(callee)
        if before is None:
            before = callees[callee] = Called.LATER if self.is_later else Called.WITHOUT_GPU
        elif Called.LATER in before and not self.is_later:
            before = callees[callee] = before & ~Called.LATER
        if self.is_allowed:
            callees[callee] = before | Called.ALLOWED
        elif Called.WITH_GPU not in before:
            passed = [
                each for value in call.values for each in value.options if each.kind is not Kind.INSTANCE
            ]
            if not passed or any(each.holds_gpu for each in passed):
                callees[callee] = before | Called.WITH_GPU

    def note_operation(self, name: str, call: Call) -> None:
        """Record a call of an external function that may have an entry in the table."""
        operation = self.context.table.find(name)
        if operation is not None:
            self.note_bound(name, call, call.bound(operation))

    def note_asked(self, name: str, call: Call) -> None:
        """Record a call of an external function that a rule lists in `asks`."""
        if name in self.context.asked and call.site is not None:
            self.state.blocking[self.number] = None
            if self.recorder is not None and isinstance(self.node, ast.Call):
                self.recorder.asked(self.node.func, name)

    def note_bound(self, name: str, call: Call, bound: Bound) -> None:
        """Record a call of an operation in the table."""
        if bound.operation.blocks and (
            needs_no_gpu_operand(bound.operation) or any(each.holds_gpu for each in bound.operands())
        ):
            self.state.blocking[self.number] = None
        if self.recorder is not None and call.site is not None and isinstance(self.node, ast.Call):
            self.recorder.operation(self.node, self.node.func, name, bound)

    def unsure(self, *, unsure: bool = True) -> AbstractContextManager[None]:
        """Suspend the recording during a block in which the callee is ambiguous."""
        return self._silent() if unsure and self.recorder is not None else _NOTHING

    @contextmanager
    def hearing(self) -> Iterator[Hearing]:
        """Suspend the recording of the options of a receiver; record a call that blocks for each of them."""
        heard = Hearing()
        recorder, self.recorder = self.recorder, heard if self.recorder is not None else None
        try:
            yield heard
        finally:
            self.recorder = recorder
        if recorder is not None and (call := heard.common()) is not None:
            recorder.operation(*call)

    @contextmanager
    def _silent(self) -> Iterator[None]:
        recorder, self.recorder = self.recorder, _DEAF
        try:
            yield
        finally:
            self.recorder = recorder


class _Deaf:
    """A recorder that ignores everything."""

    def operation(self, node: ast.expr, named: ast.expr, name: str, bound: Bound) -> None:
        """See `Recording`."""

    def asked(self, named: ast.expr, name: str) -> None:
        """See `Recording`."""

    def property_read(self, node: ast.expr, methods: tuple[Function, ...]) -> None:
        """See `Recording`."""

    def mirror(self, node: ast.expr, source: AbstractValue) -> None:
        """See `Recording`."""

    def candidate(self) -> None:
        """See `Recording`."""


_Heard = tuple[ast.expr, ast.expr, str, Bound]


class Hearing(_Deaf):
    """A recorder of the calls that block for one option of a receiver after another."""

    def __init__(self) -> None:
        self._blocking: list[_Heard | None] = [None]
        self._explicit: _Heard | None = (
            None  # an explicit synchronization: an object in its place may do nothing
        )

    def next(self) -> None:
        """Begin with the next option."""
        self._blocking.append(None)

    def operation(self, node: ast.expr, named: ast.expr, name: str, bound: Bound) -> None:
        """See `Recording`."""
        case = blocking_case(bound)
        if case is not None and case.effect is Effect.WAIT:
            self._explicit = node, named, name, bound
        if case is not None and self._blocking[-1] is None:
            self._blocking[-1] = node, named, name, bound

    def common(self) -> _Heard | None:
        """Return the call for the first option where the call blocks for all of them; an explicit synchronization for any of them."""
        *calls, _ = self._blocking
        return calls[0] if calls and None not in calls else self._explicit


_DEAF: Final = _Deaf()
__all__ = ["CallSite", "Point", "Recording", "Solving"]
