"""The recording of a function: a repeated lowering that maps expressions to values and finds blocking calls."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator

from syncscan.check.infer.dataflow.cells import LEFT_OUT
from syncscan.check.infer.dataflow.context import Context
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.lower.function import lower
from syncscan.check.infer.lower.lowering import Lowering
from syncscan.check.infer.lower.narrowing import classes_asked, isinstance_of
from syncscan.check.infer.solve.record import Recorder, Statements, Waits, is_candidate
from syncscan.check.infer.solve.switches import (
    NO_CONSTANT,
    constant_of,
    is_only_converted,
    outcome,
    switched_off,
)
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import is_none, path_of
from syncscan.check.infer.transfer.conditions import Bound, blocking_case, queued_case
from syncscan.check.infer.transfer.point import Point, Solving
from syncscan.check.infer.transfer.refinement import IS_INSTANCE, is_always, kinds_asked
from syncscan.check.infer.transfer.registry import INSTRUCTIONS
from syncscan.model import Kind, Value

_MAY_BE_NONE = frozenset({Kind.UNKNOWN, Kind.NONE, Kind.MOVED})
Shown = Callable[[State, Slot | None, AbstractValue], Value]  # the value that rules see


def statements(solver: Solving, state: State, waits: Waits, shown: Shown) -> Statements:
    """Return the recorded statements of a function; those where a GPU value may block have ``blocks`` set."""
    recording = _Recording(solver, state, waits, shown)
    lower(state.function, solver.context.scopes, solver.context.conventions, recording)
    return recording.statements


class _Recording:
    """A listener of the lowering that runs each call again with the values of the fixed point."""

    def __init__(self, solver: Solving, state: State, waits: Waits, shown: Shown) -> None:
        self._context: Context = solver.context
        self._state = state
        self._shown = shown
        self._point = Point(solver)
        self._point.stand_in(state)
        self._point.recorder = self
        self._recorder = Recorder(waits, self._value_of)
        self._silent = 0

    @property
    def statements(self) -> Statements:
        """The recorded statements."""
        return self._recorder.statements

    # What the lowering tells

    def begin(self, node: ast.stmt, switch: str) -> None:
        """See `Listener`."""
        if not self._silent:
            self._recorder.begin(node, switch)

    def end(self) -> None:
        """See `Listener`."""
        if not self._silent:
            self._recorder.end()

    def value(self, node: ast.expr, slot: Slot) -> None:
        """See `Listener`."""
        if not self._silent:
            self._recorder.value(node, slot)

    def truth(self, slot: Slot) -> None:
        """See `Listener`."""
        if not self._silent and _may_be_gpu(self._state.values[slot]):
            self._recorder.candidate()

    def runs(self, node: ast.expr, slot: Slot) -> None:
        """See `Listener`."""
        if self._silent:
            return
        state, point = self._state, self._point
        op = state.ir.ops[slot]
        operands = [state.values[each] for each in state.ir.operands[slot]]
        if op is Op.BINARY:
            self._formats(operands)
            return
        point.number, point.node, point.site, point.default_device = slot, node, None, None
        INSTRUCTIONS[Op(op)](point, operands, state.ir.data[slot])

    def _formats(self, operands: list[AbstractValue]) -> None:
        if formats(*operands):
            self._recorder.candidate()

    def stores(self, node: ast.expr, slot: Slot) -> None:
        """See `Listener`."""
        self.runs(node, slot)

    def silence(self, *, silent: bool) -> None:
        """See `Listener`."""
        self._silent += 1 if silent else -1

    def is_closed(self, gate: Slot) -> bool:
        """See `Listener`."""
        return self._state.values[gate] is BOTTOM

    def contradiction(self, test: ast.expr, *, holds: bool, lowering: Lowering) -> bool:
        """Return whether a test contradicts the inferred values, as ``not isinstance(x, Tensor)`` for a tensor."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.contradiction(test.operand, holds=not holds, lowering=lowering)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
            return any(self.contradiction(part, holds=holds, lowering=lowering) for part in test.values)
        if isinstance(test, ast.Compare):
            return self._is_never_none(test, holds=holds, lowering=lowering)
        asked = None if holds else isinstance_of(lowering, test)
        if asked is None or not all(map(lowering.path, [asked[0], *asked[1]])):
            return False  # a computed class would be lowered once more, under other numbers
        slots, names = classes_asked(lowering, asked[1])
        values = self._state.values
        assert isinstance(test, ast.Call)
        if values[lowering.peek(test.func)].payload not in IS_INSTANCE:
            return False
        kinds = kinds_asked([values[slot] for slot in slots], names)
        return bool(kinds) and is_always(values[lowering.peek(asked[0])], kinds)

    def _is_never_none(self, test: ast.Compare, *, holds: bool, lowering: Lowering) -> bool:
        """Return whether a test finds the default None of a parameter to which every call found passes something else."""
        left, finds = test.left, ast.Is if holds else ast.IsNot
        is_of_none = [*map(type, test.ops)] == [finds] and is_none(test.comparators[0])
        function, known = self._state.function, self._context.known
        parameter = function.by_name.get(left.id) if isinstance(left, ast.Name) and is_of_none else None
        if parameter is None or not parameter.is_none_by_default or function.virtuals():
            return False
        passed = known.parameters[parameter].value
        options = passed.items or () if passed.kind is Kind.UNION else (passed,)
        is_something = all(option.kind not in _MAY_BE_NONE for option in options)
        is_left_out = known.defaulted[parameter].value
        return is_something and not is_left_out and lowering.peek(left) in lowering.parameters

    def switched_off(self, test: ast.expr, *, holds: bool) -> str:
        """See `Listener`."""
        return "" if self._silent else switched_off(test, self._truth_of, holds=holds)

    def _truth_of(self, node: ast.expr) -> bool | None:
        """Return the truth value that a parameter, its comparison or an attribute of the object always has, or None."""
        if isinstance(node, ast.Compare):
            return outcome(node, self._left_out(node.left))
        base, _, name = path_of(node).rpartition(".")
        if base != "self" and (base or name not in self._state.function.by_name):
            return None
        slot = self._recorder.slot_of(node)
        payload = BOTTOM.payload if slot is None else self._state.values[slot].payload
        return payload if isinstance(payload, bool) else None

    def _left_out(self, node: ast.expr) -> object:
        """Return the default of a parameter that each call found leaves out, as a constant; `NO_CONSTANT` for other expressions."""
        function, known = self._state.function, self._context.known
        parameter = function.by_name.get(node.id) if isinstance(node, ast.Name) else None
        if parameter is None or not parameter.is_compared or function.virtuals() or function.decorators:
            return NO_CONSTANT
        is_passed = known.parameters[parameter].value is not BOTTOM
        is_left_out = not is_passed and known.defaulted[parameter].value == LEFT_OUT
        is_same = is_left_out and is_only_converted(parameter.name, function.node)
        return constant_of(parameter.default) if is_same else NO_CONSTANT

    # What the instructions tell

    def operation(self, node: ast.expr, named: ast.expr, name: str, bound: Bound) -> None:
        """See `Recording`."""
        if not self._silent:
            call = functools.partial(self._public, bound, self._point.number)
            self._recorder.operation(node, named, name, bound, call)

    def _value_of(self, slot: Slot) -> Value:
        return self._shown(self._state, slot, self._state.values[slot])

    def _public(self, bound: Bound, number: Slot) -> Bound:
        def shown(value: AbstractValue) -> Value:
            return self._shown(self._state, None, value)

        values = {name: tuple(map(shown, each)) for name, each in bound.values.items()}
        if "group" in bound.values:  # of which no argument may speak
            values["group"] = tuple(
                [self._shown(self._state, number, each) for each in bound.values["group"]]
            )
        return Bound(bound.operation, values, tuple(map(shown, bound.rest)))

    def asked(self, named: ast.expr, name: str) -> None:
        """See `Recording`."""
        if not self._silent:
            self._recorder.asked(named, name)

    def property_read(self, node: ast.expr, methods: tuple[Function, ...]) -> None:
        """See `Recording`."""
        if not self._silent:
            self._recorder.property_read(node, methods)

    def mirror(self, node: ast.expr, source: AbstractValue) -> None:
        """See `Recording`."""
        if not self._silent:
            self._recorder.mirror(node, self._shown(self._state, None, source))

    def candidate(self) -> None:
        """See `Recording`."""
        if not self._silent:
            self._recorder.candidate()


def _may_be_gpu(value: AbstractValue) -> bool:
    return any(option.is_gpu for option in value.options)


_FORMATS = frozenset({Kind.STRING, Kind.LIST, Kind.TUPLE})


def formats(left: AbstractValue, right: AbstractValue) -> bool:
    """Return whether ``"%s" % t`` or ``[0] * t`` reads a GPU value."""
    if left.kind not in _FORMATS and right.kind not in _FORMATS:
        return False
    inside = right.items if right.kind is Kind.TUPLE and right.items is not None else (right,)
    return any(map(_may_be_gpu, (left, *inside)))


class CandidateTest:
    """A cheap test of whether a function may block: runs its candidate instructions again, without syntax nodes."""

    def __init__(self, solver: Solving) -> None:
        self._point = Point(solver)
        self._point.recorder = self
        self._point.node = ast.Call(ast.Name(""), [], [])  # which stands for all
        self._blocks = False

    def may_block(self, state: State) -> bool:
        """Return whether a GPU value reaches a call that blocks, or an asynchronous copy that rules must see."""
        ir, values, point = state.ir, state.values, self._point
        self._blocks = any(_may_be_gpu(values[slot]) for slot in ir.truths) or any(
            formats(values[left], values[right]) for left, right in ir.formats
        )
        if self._blocks:
            return True
        point.stand_in(state)
        for number in dict.fromkeys((*state.blocking, *_subscripts_on_gpu(state))):
            point.number, point.site, point.default_device = number, None, None
            operands = [values[slot] for slot in ir.operands[number]]
            INSTRUCTIONS[Op(ir.ops[number])](point, operands, ir.data[number])
            if self._blocks:
                return True
        return False

    def operation(self, node: ast.expr, named: ast.expr, name: str, bound: Bound) -> None:
        """See `Recording`."""
        self._blocks |= is_candidate(bound, blocking_case(bound), queued_case(bound))

    def asked(self, named: ast.expr, name: str) -> None:
        """See `Recording`."""
        self._blocks = True

    def property_read(self, node: ast.expr, methods: tuple[Function, ...]) -> None:
        """See `Recording`; the call graph finds the readers of blocking properties."""

    def mirror(self, node: ast.expr, source: AbstractValue) -> None:
        """See `Recording`."""
        self._blocks = True

    def candidate(self) -> None:
        """See `Recording`."""
        self._blocks = True


def _subscripts_on_gpu(state: State) -> Iterator[Slot]:
    """Yield the subscripts, read, stored or deleted, with an operand on the GPU."""
    ops, values, all_operands = state.ir.ops, state.values, state.ir.operands
    for wanted in (Op.SUBSCRIPT, Op.STORE_ITEM, Op.DELETE_ITEM):
        if wanted in ops:
            for number, op in enumerate(ops):
                if op == wanted and any(values[slot].holds_gpu for slot in all_operands[number]):
                    yield number
