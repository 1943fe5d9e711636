"""The evaluation of one function: its state, and the doors to everything that can be evaluated."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from syncscan.check.infer.dataflow.called import Called
from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.context import Context
from syncscan.check.infer.evaluate.environment import Environment, Loop
from syncscan.check.infer.evaluate.outcome import Outcome
from syncscan.check.infer.evaluate.record import Recorder
from syncscan.check.infer.evaluate.registry import (
    ATTRIBUTES,
    CALLABLES,
    DECLARED,
    EXPRESSIONS,
    FUNCTIONS,
    METHODS,
    PACKAGES,
    STATEMENTS,
    TARGETS,
)
from syncscan.check.infer.known.cells import ANY_TEXT, Cell, Fact, joined
from syncscan.check.infer.source.index import FIELDS, Class, Function, Module, Parameter, Virtual
from syncscan.check.infer.source.syntax import path_of
from syncscan.check.infer.table.conditions import Bound, needs_no_gpu_operand
from syncscan.check.infer.table.results import Here
from syncscan.check.infer.table.subscripts import subscript_call
from syncscan.check.infer.values.basic import holds_gpu
from syncscan.check.infer.values.steps import Step
from syncscan.model import UNKNOWN, Device, Evidence, Kind, Value

_NOTHING = nullcontext()
DEFAULT_DEVICE = "torch.set_default_device()"  # kept like a variable of the module that calls it at its top


class Frame:
    """One evaluation of one function, from what is known now; what it yields is its `outcome`."""

    def __init__(
        self, context: Context, function: Function, recorder: Recorder | None = None, now: int | None = None
    ) -> None:
        """Evaluate from all that is known, or from what was known before the moment ``now``."""
        self.context = context
        self.now = now
        self.function = function
        self.module = function.module
        self.module.read()
        self.recorder = recorder
        self.outcome = Outcome()
        self.rebound = context.scopes.rebound_of(function)  # names that functions defined in it set
        self.env = Environment()
        self.yielded: Value = UNKNOWN
        self.statement: ast.stmt | None = None
        self.default_device = self._default_device()
        self.loops: list[Loop] = []
        self.class_body: Class | None = None
        self.waits_are_meant = False  # inside of a context that allows them
        self.passed: dict[Evidence, str] = {}  # parameters, by the evidence for what is passed to them
        self.texts_of: dict[Parameter, Value] = {}  # those of which it matters which text they are, as passed
        self.named_in_expressions: list[str] = []  # what ``:=`` has bound so far

    def _default_device(self) -> Value | None:
        """Where what names no device is put as the function starts; None where that is the CPU."""
        owner, known = self.function.owner, self.context.known
        if owner is not None and owner.is_module and owner.makes(self.function.name):
            where = self.read(known.default_device)
        elif self.function is not self.module.body:
            where = self.read(known.globals[self.module, DEFAULT_DEVICE])
        else:
            return None
        return where if where.kind is Kind.DEVICE else None

    # The doors: each leads to what has registered itself for the kind of node or value

    def run(self, body: Sequence[ast.stmt]) -> bool:
        """Run statements in order; False if the end cannot be reached."""
        for node in body:
            handler = STATEMENTS.get(type(node))
            if handler is None:
                continue
            self.statement = node
            if self.recorder is not None:
                self.recorder.begin(node)
                reached = handler(self, node)
                self.recorder.end()
            else:
                reached = handler(self, node)
            if reached is False:
                return False
        return True

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            return UNKNOWN
        value = handler(self, node)
        if self.recorder is not None:
            self.recorder.value(node, value)
        return value

    def peek(self, node: ast.expr) -> Value:
        """The value of an expression that has been evaluated already."""
        known = self.env.get(self.path(node))
        if known is not None:
            return known
        handler = EXPRESSIONS.get(type(node))
        return handler(self, node) if handler is not None else UNKNOWN

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a value to a target of an assignment."""
        handler = TARGETS.get(type(target))
        if handler is not None:
            handler(self, target, value)
        if self.recorder is not None:
            self.recorder.value(target, value)

    def attribute(self, base: Value, name: str, node: ast.expr) -> Value:
        """The value of ``base.name``; reading a property runs it."""
        handler = ATTRIBUTES.get(base.kind)
        return handler(self, base, name, node) if handler is not None else UNKNOWN

    def call(self, callee: Value, call: Call) -> Value:
        """Call a value, whatever it is."""
        handler = CALLABLES.get(callee.kind)
        return handler(self, callee, call) if handler is not None else UNKNOWN

    def call_method(self, base: Value, name: str, call: Call) -> Value:
        """Call ``base.name(...)``."""
        handler = METHODS.get(base.kind)
        return handler(self, base, name, call) if handler is not None else UNKNOWN

    def call_outside(self, name: str, call: Call) -> Value:
        """Call something outside the project by its full name."""
        self.note_asked(name, call)
        special = FUNCTIONS.get(name)
        if special is not None:
            self.note_operation(name, call)
            return special(self, call)
        package = DECLARED if name in self.context.table.own else name.partition(".")[0]
        handler = PACKAGES.get(package)
        return handler(self, name, call) if handler is not None else UNKNOWN

    # What is known, and what this evaluation adds to it

    def read(self, cell: Cell[Fact]) -> Fact:
        """Read a cell, and be looked at again when it changes."""
        self.outcome.reads[cell] = None
        return cell.value if self.now is None else cell.before(self.now)

    def asks(self, of: Class | Module | str, name: str) -> None:
        """Ask what a class, a module or an import from one has under a name, and be looked at again when that changes."""
        self.context.known.asks(self.function, (of, name))

    def texts(self, value: Value) -> frozenset[str]:
        """The texts that a value may be, `ANY_TEXT` where it is not known which; of a parameter what callers pass."""
        for parameter, passed in self.texts_of.items():
            if passed is value:
                default = parameter.default.value if isinstance(parameter.default, ast.Constant) else None
                own = {default} if isinstance(default, str) else set()
                return self.read(self.context.known.texts[parameter]) | own
        return frozenset(
            option.payload if isinstance(option.payload, str) else ANY_TEXT
            for option in value.options
            if option.kind is Kind.STRING or option.kind is Kind.UNKNOWN
        )

    def fields(self, cls: Class) -> list[str]:
        """The fields of a record, in order."""
        self.asks(cls, FIELDS)
        return cls.fields()

    def told(self, cell: Cell[Fact]) -> Fact | None:
        """What this function contributes to a cell so far."""
        contributed: Fact | None = self.outcome.contributions.get(cell)
        return contributed if contributed is not None else cell.told_by(self.function)

    def tell(self, cell: Cell[Fact], fact: Fact) -> None:
        """Contribute to a cell."""
        whole = joined(self.told(cell), fact)
        if whole is not None:
            self.outcome.contributions[cell] = whole

    def may_tell(self, other: Module) -> bool:
        """Whether what is passed or set here says something about another module's code."""
        return other.is_outside or not self.module.is_outside

    def assume(self) -> bool:
        """Whether open questions are answered by assumption now; if not yet, this function has one.

        What they are answered with is the GPU, so that there is no answer where the host prepares inputs.
        """
        if self.function.works_on_the_host:
            return False
        if not self.context.assume:
            self.outcome.is_open = True
        return self.context.assume

    def place_of(self, name: str) -> Device:
        """The place that a name promises, by the conventions or because the project keeps fields of that name there."""
        return Device.CPU if name in self.module.kept else self.context.place_of(name)

    # Where it stands

    def path(self, node: ast.expr) -> str:
        """The name under which an expression is kept in the environment, or ""."""
        if isinstance(node, ast.Name):
            return node.id
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return ""
        path: str | None = getattr(node, "path", None)  # kept at the node, see `trees`
        if path is None:
            path = node.path = sys.intern(path_of(node))  # type: ignore[union-attr]  # ast has no such field
        return path

    def here(self, node: ast.expr) -> Here:
        """Where an expression stands, for evidence."""
        return Here(self.module, node, self.default_device, self.assume)

    def evidence(self, node: ast.AST, text: str, parent: Evidence | None = None) -> Evidence:
        """A step of evidence at an expression."""
        return Step(self.module.path, node, text, parent)

    # What may block

    def note_called(self, callee: Function | Virtual, call: Call) -> None:
        """A function of the project is called."""
        callees = self.outcome.callees
        before = callees.get(callee, Called.WITHOUT_GPU)
        if self.waits_are_meant:
            callees[callee] = before | Called.ALLOWED
        elif Called.WITH_GPU not in before:
            values = [value for value in call.values if value.kind is not Kind.INSTANCE]
            with_gpu = not values or any(map(holds_gpu, values))
            callees[callee] = before | Called.WITH_GPU if with_gpu else before

    def note_truth(self, value: Value) -> None:
        """Something asks for the truth, the text or the number of a value."""
        if any(option.is_gpu for option in value.options):
            self.outcome.may_block = True
            if self.recorder is not None:
                self.recorder.candidate()

    def note_subscript(
        self, node: ast.Subscript, base: Value, index: Value, value: Value | None = None
    ) -> None:
        """A subscript is read, or stored to."""
        if not self.outcome.may_block:
            operands = (base, index, value) if value is not None else (base, index)
            self.outcome.may_block = any(map(holds_gpu, operands))
        options = base.options
        if self.recorder is None or len(options) != 1 or options[0].kind is not Kind.TENSOR:
            return
        name = "torch.Tensor.__getitem__" if value is None else "torch.Tensor.__setitem__"
        bound = subscript_call(self.context.table, name, options[0], index, value)
        if bound is not None:
            self.recorder.operation(node, node, name, bound)

    def note_operation(self, name: str, call: Call) -> None:
        """Something outside the project is called that may have an entry in the table."""
        operation = self.context.table.find(name)
        if operation is not None:
            self.note_bound(name, call, call.bound(operation))

    def note_asked(self, name: str, call: Call) -> None:
        """Something outside the project is called, about which a rule may ask whatever the table says."""
        if name in self.context.asked and isinstance(call.node, ast.Call):
            self.outcome.may_block = True
            if self.recorder is not None:
                self.recorder.asked(call.node.func, name)

    def note_bound(self, name: str, call: Call, bound: Bound) -> None:
        """An operation of the table is called."""
        if bound.operation.blocks and not self.outcome.may_block:
            self.outcome.may_block = needs_no_gpu_operand(bound.operation) or any(
                map(holds_gpu, bound.operands())
            )
        if self.recorder is not None and isinstance(call.node, ast.Call):
            self.recorder.operation(call.node, call.node.func, name, bound)

    def unsure(self, *, unsure: bool = True) -> AbstractContextManager[None]:
        """Record nothing where a call may as well be another one."""
        return self._silent() if unsure and self.recorder is not None else _NOTHING

    @contextmanager
    def _silent(self) -> Iterator[None]:
        recorder, self.recorder = self.recorder, None
        try:
            yield
        finally:
            self.recorder = recorder
