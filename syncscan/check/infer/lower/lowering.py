"""The state of one lowering: the instructions emitted, and the environment at the current point."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from syncscan.check.infer.ir.instructions import FunctionIR, Op, Slot
from syncscan.check.infer.lower.environment import Changes, Environment, Loop
from syncscan.check.infer.source.conventions import is_loss, place_of
from syncscan.check.infer.source.hardware import runs_elsewhere
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.scopes import Scopes
from syncscan.check.infer.source.syntax import path_from
from syncscan.check.infer.source.trees import types_of
from syncscan.model import Conventions, Device

Lowers = TypeVar("Lowers", bound=Callable[..., Any])

STATEMENTS: dict[
    type[ast.stmt], Callable[..., bool | None]
] = {}  # (lowering, node): False if nothing follows
EXPRESSIONS: dict[type[ast.expr], Callable[..., Slot]] = {}  # (lowering, node)
TARGETS: dict[type[ast.expr], Callable[..., None]] = {}  # (lowering, node, slot): bind what is assigned

DEVICE = "<device>"  # the path under which the default device is kept


def lowers(table: dict[Any, Callable[..., Any]], *kinds: type[ast.AST]) -> Callable[[Lowers], Lowers]:
    """Return a decorator that registers the lowering of some node types."""

    def added(function: Lowers) -> Lowers:
        table.update(dict.fromkeys(types_of(*kinds), function))
        return function

    return added


class Listener(Protocol):
    """An observer of a repeated lowering, which maps syntax nodes to slots."""

    def begin(self, node: ast.stmt, switch: str) -> None:
        """Enter a statement; statements nest."""

    def end(self) -> None:
        """Leave the innermost statement."""

    def value(self, node: ast.expr, slot: Slot) -> None:
        """Record the slot of an expression."""

    def truth(self, slot: Slot) -> None:
        """Record that the function requests the truth, text or number of a value."""

    def runs(self, node: ast.expr, slot: Slot) -> None:
        """Record the instruction of an expression that may call a function."""

    def stores(self, node: ast.expr, slot: Slot) -> None:
        """Record the instruction that stores to a target."""

    def silence(self, *, silent: bool) -> None:
        """Begin or end a region without reports."""

    def is_closed(self, gate: Slot) -> bool:
        """Return whether the code behind a gate never runs."""

    def contradiction(self, test: ast.expr, *, holds: bool, lowering: Lowering) -> bool:
        """Return whether a test can have this outcome only for values other than the inferred ones."""

    def switched_off(self, test: ast.expr, *, holds: bool) -> str:
        """Return the switch that keeps a test from this outcome, such as ``self.use_cache``, or "".

        The project gives the switch one truth value alone, by its default and its calls.
        """


class Lowering:
    """The lowering of one function: its instructions, environment, and enclosing loops."""

    def __init__(
        self, function: Function, scopes: Scopes, conventions: Conventions, listener: Listener | None = None
    ) -> None:
        self.function = function
        self.module = function.module
        self.scopes = scopes
        self.conventions = conventions
        self.listener = listener
        self.ir = FunctionIR()
        self.env = Environment()
        self.loops: list[Loop] = []
        self.statement: ast.stmt | None = None
        self.class_body: Class | None = None
        self.is_allowed = False  # inside of a region that allows synchronization
        self.switch = ""  # that keeps the statements at hand from running, see `Listener.switched_off`
        self.named_in_expressions: list[str] = []  # what ``:=`` has bound so far
        self.rebound = scopes.rebound_of(function)  # names that functions defined in it set
        self.parameters: dict[Slot, str] = {}  # the slots of parameters as they are passed
        self.exits: dict[Slot, Slot] = {}  # what parameters hold where the function ends, and their own slots
        # The stores to attributes by path, as long as nobody can have read them and control flow is straight.
        self.unread: dict[str, Slot] = {}
        self._unique: dict[tuple[Any, ...], Slot] = {}

    # Instructions

    def emit(self, op: Op, operands: tuple[Slot, ...] = (), data: object = None) -> Slot:
        """Emit an instruction; return its slot."""
        ir = self.ir
        ir.ops.append(op)
        ir.operands.append(operands)
        ir.data.append(data)
        return len(ir.ops) - 1

    def emit_at(self, node: ast.AST, op: Op, operands: tuple[Slot, ...] = (), data: object = None) -> Slot:
        """Emit an instruction with its source range; return its slot."""
        slot = self.emit(op, operands, data)
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
        self.ir.places[slot] = line, column, end_line or line, end_column or 0
        return slot

    def once(self, op: Op, operands: tuple[Slot, ...] = (), data: object = None) -> Slot:
        """Emit an instruction whose value depends on its operands alone, or return the slot of an equal one."""
        key = (op, operands, data)
        slot = self._unique.get(key)
        if slot is None:
            slot = self._unique[key] = self.emit(op, operands, data)
        return slot

    def constant(self, value: object) -> Slot:
        """Emit a literal, or return the slot of an equal one."""
        key = (Op.CONSTANT, type(value), value)
        slot = self._unique.get(key)
        if slot is None:
            slot = self._unique[key] = self.emit(Op.CONSTANT, (), value)
        return slot

    def note_read(self, base: Slot) -> None:
        """Forget the stores to attributes where code of the object may read them, such as a property."""
        if self.unread and any(self.ir.operands[store][0] == base for store in self.unread.values()):
            self.unread.clear()

    def replace(self, store: Slot) -> None:
        """Take back a store that another one replaces before anybody can have read it."""
        self.ir.ops[store], self.ir.operands[store], self.ir.data[store] = Op.CONSTANT, (), ...

    def nothing(self) -> Slot:
        """Emit the unknown value, or return its slot."""
        return self.constant(...)

    def phi(self, slots: tuple[Slot, ...]) -> Slot:
        """Emit a phi, where control-flow paths join."""
        return self.once(Op.PHI, slots)

    def joined(self, slots: Sequence[Slot]) -> Slot:
        """Emit the join of several values on one path."""
        unique = tuple(dict.fromkeys(slots))
        if len(unique) == 1:
            return unique[0]
        return self.once(Op.JOIN, unique) if unique else self.nothing()

    # The doors: each leads to what has registered itself for the type of node

    def run(self, body: Sequence[ast.stmt]) -> bool:
        """Lower statements in order; return False if control flow cannot reach their end."""
        listener, switch = self.listener, self.switch
        self.unread.clear()
        reached: bool | None = True
        for node in body:
            handler = STATEMENTS.get(type(node))
            if handler is None:
                continue
            self.statement = node
            if listener is not None:
                listener.begin(node, self.switch)
                reached = handler(self, node)
                listener.end()
            else:
                reached = handler(self, node)
            if reached is False:
                break
        self.switch = switch
        self.unread.clear()
        return reached is not False

    def evaluate(self, node: ast.expr) -> Slot:
        """Lower an expression; return its slot."""
        handler = EXPRESSIONS.get(type(node))
        slot = handler(self, node) if handler is not None else self.nothing()
        if self.listener is not None:
            self.listener.value(node, slot)
        return slot

    def peek(self, node: ast.expr) -> Slot:
        """Return the slot of an expression that was lowered before, without reporting to the listener."""
        slot = self.env.get(self.path(node))
        if slot is not None:
            return slot
        listener, self.listener = self.listener, None
        slot = self.evaluate(node)
        self.listener = listener
        return slot

    def assign(self, target: ast.expr, slot: Slot) -> None:
        """Bind a slot to an assignment target."""
        handler = TARGETS.get(type(target))
        if handler is not None:
            handler(self, target, slot)
        if self.listener is not None:
            self.listener.value(target, slot)

    def truth(self, slot: Slot) -> None:
        """Record that the function requests the truth, text or number of a value."""
        self.ir.truths.append(slot)
        if self.listener is not None:
            self.listener.truth(slot)

    def runs_elsewhere(self, test: ast.expr, *, holds: bool) -> bool:
        """Return whether a test has the outcome ``holds`` on other hardware only."""
        return runs_elsewhere(test, holds=holds)

    def meet(self, *ends: Changes) -> Changes:
        """Return the changes at the join of paths."""
        return self.env.meet(*ends, phi=self.phi)

    def named(self, slot: Slot, name: str) -> Slot:
        """Emit the refinement of a value by its name, where the conventions say something about the name."""
        if (
            name in self.module.kept
            or place_of(self.conventions, name) is not Device.UNKNOWN
            or is_loss(name)
        ):
            return self.once(Op.NAMED, (slot,), name)
        return slot

    @contextmanager
    def silent(self, *, silent: bool = True) -> Iterator[None]:
        """Suspend the listener's reports during a block."""
        listener = self.listener
        if listener is None or not silent:
            yield
            return
        listener.silence(silent=True)
        try:
            yield
        finally:
            listener.silence(silent=False)

    def is_closed(self, gate: Slot) -> bool:
        """Return whether the code behind a gate is known never to run."""
        return self.listener is not None and self.listener.is_closed(gate)

    # Paths

    def path(self, node: ast.AST) -> str:
        """Return the path of an expression in the environment, or ""."""
        if isinstance(node, ast.Name):
            return node.id
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return ""
        path: str | None = getattr(node, "path", None)  # kept at the node, see `trees`
        if path is None:
            path = node.path = sys.intern(path_from(node, self.path))  # type: ignore[union-attr]  # ast has no such field
        return path

    def bind_path(self, path: str, slot: Slot) -> None:
        """Bind a path, and unbind all longer paths that begin with it."""
        self.env.forget_inside(path)
        self.env[path] = slot

    def bind(self, name: str, slot: Slot, node: ast.AST) -> None:
        """Bind a name, and store it where the module, class or another function can read it."""
        self.bind_path(name, slot)
        if self.class_body is not None:
            self.emit_at(node, Op.STORE_CLASS, (slot,), (self.class_body, name))
        else:
            self.publish(name, slot, node)

    def publish(self, name: str, slot: Slot, node: ast.AST) -> None:
        """Emit a store for a name that other functions can read."""
        function = self.function
        if function is self.module.body or name in function.global_names:
            self.emit_at(node, Op.STORE_GLOBAL, (slot,), name)
        elif name in function.nonlocal_names:
            scope = self.scopes.scope_of(function, name)
            if scope is not None:
                self.emit(Op.STORE_CAPTURED, (slot,), (scope, name))
