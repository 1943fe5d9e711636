"""The evaluation of one function: its environment, and the statements that change it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from syncscan.check.infer import calls, statements
from syncscan.check.infer.attributes import attribute_of, external
from syncscan.check.infer.conditions import Bound, needs_no_gpu_operand
from syncscan.check.infer.conventions import dtype_of, place_of
from syncscan.check.infer.expressions import EVALUATORS
from syncscan.check.infer.index import Cell, Class, Function, Import, Module, Parameter
from syncscan.check.infer.names import builtin_names
from syncscan.check.infer.narrow import key_of
from syncscan.check.infer.operations import Here
from syncscan.check.infer.values import (
    NDARRAY,
    as_tensor,
    element_of,
    evidence_in,
    explained,
    holds_gpu,
    inferred,
    join,
    list_of,
    refine,
    union,
)
from syncscan.model import ARRAYS, UNKNOWN, Confidence, Device, Evidence, Kind, Value

if TYPE_CHECKING:
    from syncscan.check.infer.record import Recorder
    from syncscan.check.infer.solver import Solver

_HOST_SCALARS = frozenset({Kind.NUMBER, Kind.STRING, Kind.DTYPE})


class Frame:
    """One evaluation of one function, from its parameters as they are known now."""

    def __init__(self, solver: Solver, function: Function, recorder: Recorder | None = None) -> None:
        self.solver = solver
        self.function = function
        self.module = function.module
        self.recorder = recorder
        self.env: dict[str, Value] = {}
        self.yielded: Value = UNKNOWN
        self.statement: ast.stmt | None = None
        self.default_device: Value | None = None
        self.loops: list[statements.Loop] = []
        self.class_body: Class | None = None
        self._passed: dict[int, str] = {}  # parameters, by the evidence for what is passed to them
        if function.owner is not None and function.owner.is_module and function.owner.makes(function.name):
            self.default_device = Value(Kind.DEVICE, confidence=Confidence.INFERRED)
        if recorder is not None:
            self.evaluate = self._evaluate_and_record  # type: ignore[method-assign]

    # Running

    def run(self) -> None:
        """Evaluate the whole body."""
        node = self.function.node
        self._set_parameters()
        if isinstance(node, ast.Lambda):
            self._run_lambda(node)
        else:
            statements.block(self, node.body)
        if self.function.is_generator:
            self.function_returns(list_of(self.yielded))
        self._publish_captured()

    def _run_lambda(self, node: ast.Lambda) -> None:
        """Evaluate the body of a lambda; it is recorded under the statement in which it stands."""
        statement = self.function.statement
        if self.recorder is not None and statement is not None:
            self.recorder.begin(statement)
        self.returns(self.evaluate(node.body), node.lineno)
        if self.recorder is not None and statement is not None:
            self.recorder.end()

    def _set_parameters(self) -> None:
        function = self.function
        for position, parameter in enumerate(function.parameters):
            if position == 0 and function.owner is not None and not function.is_static:
                kind = (
                    Kind.CLASS
                    if "classmethod" in function.decorators or function.name == "__new__"
                    else Kind.INSTANCE
                )
                self.env[parameter.name] = Value(kind, payload=function.owner)
                continue
            value = self.env[parameter.name] = self._parameter(parameter)
            self._passed |= {id(why): parameter.name for why in evidence_in(value) if why is not None}

    def _parameter(self, parameter: Parameter) -> Value:
        value = self.read(parameter.cell)
        promised = self.solver.annotations.read(parameter.annotation, self.module, self.function)
        if parameter.star == "*":
            return list_of(join(value, promised), Kind.TUPLE)
        if parameter.star == "**":
            return list_of(join(value, promised), Kind.DICT)
        if promised.kind is Kind.TENSOR:
            value = as_tensor(value)
        nobody_is_seen_to_pass = value.kind is Kind.UNKNOWN
        if nobody_is_seen_to_pass or (
            promised.kind in _HOST_SCALARS and value.kind not in {promised.kind, Kind.DEVICE}
        ):
            value = promised
        elif promised.kind in ARRAYS and value.kind not in ARRAYS:
            # a number that an array is said to be was an array's item somewhere on the way
            value = promised if value.kind is Kind.NUMBER else join(value, promised)
        if parameter.default is not None:
            default = self.evaluate(parameter.default)
            if nobody_is_seen_to_pass and default.kind is Kind.STRING:
                value = default  # such as the name of a device
            elif (
                default.kind is Kind.NONE
                or value.kind is Kind.UNKNOWN
                or (value.payload is not None and value.payload != default.payload)
            ):
                value = join(value, default)
        line = getattr(self.function.node, "lineno", 1)
        if parameter.annotation is not None:
            line = parameter.annotation.lineno
        return self.assumed_tensor(value, parameter.name, self.module.path, line)

    def _publish_captured(self) -> None:
        for name, cell in self.function.captured.items():
            if name in self.env and cell.join(self.env[name]):
                self.solver.changed(cell)

    # Expressions

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        handler = EVALUATORS.get(type(node))
        if handler is None:
            return UNKNOWN
        return handler(self, node)

    def _evaluate_and_record(self, node: ast.expr) -> Value:
        value = Frame.evaluate(self, node)
        if self.recorder is not None:
            self.recorder.value(node, value)
        return value

    def peek(self, node: ast.expr) -> Value:
        """The value of an expression that has been evaluated already."""
        known = self.env.get(key_of(node))
        return known if known is not None else Frame.evaluate(self, node)

    def here(self, node: ast.expr) -> Here:
        """Where an expression stands, for evidence."""
        return Here(self.module, node, self.default_device, self.assume)

    def assume(self) -> bool:
        """Whether open questions are answered by assumption now; if not yet, this function has one."""
        if not self.solver.assume:
            self.function.is_open = True
        return self.solver.assume

    # Names

    def read(self, cell: Cell) -> Value:
        """Read what the fixed point refines, and be looked at again when it changes."""
        cell.readers[self.function] = None
        return cell.value

    def outer_name(self, name: str) -> Value:
        """A name that is not local: of an enclosing function, the module, or Python."""
        scope: Function | None = self.function
        while scope is not None:
            if name in scope.children:
                return self.definition(scope.children[name])
            scope = scope.parent
            if scope is not None:
                value = self._captured(scope, name)
                if value is not None:
                    return value
        if name in self.module.names or name in self.module.globals:
            return self.module_name(self.module, name)
        if name in builtin_names():
            return Value(Kind.MODULE, payload=f"builtins.{name}")
        return UNKNOWN

    def _captured(self, scope: Function, name: str) -> Value | None:
        if name not in self.solver.locals_of(scope):
            return None
        return self.read(self._captured_cell(scope, name))

    def _captured_cell(self, scope: Function, name: str) -> Cell:
        if name not in scope.captured:
            scope.captured[name] = Cell()
            self.solver.enqueue(scope)
        return scope.captured[name]

    def after_call(self) -> None:
        """Note what nested functions may have made of the names of this one, now that one may have run."""
        for name in self.function.rebound:
            if name in self.env:
                self.env[name] = join(self.env[name], self.read(self.function.captured[name]))

    def module_name(self, module: Module, name: str) -> Value:
        """The value of a top-level name of a module of the project."""
        target = module.names.get(name)
        cell = module.globals.get(name)
        if isinstance(target, Import):
            found = self.solver.project.follow(target)
            if found is None:
                cell = cell or self.solver.project.global_cell(target)
                return self.named(self.read(cell), name) if cell is not None else UNKNOWN
            return (
                join(self.definition(found), self.read(cell)) if cell is not None else self.definition(found)
            )
        if target is not None:
            return self.definition(target)
        if cell is not None:
            return self.read(cell)
        submodule = self.solver.project.modules.get(f"{module.name}.{name}")
        return Value(Kind.MODULE, payload=submodule) if submodule is not None else UNKNOWN

    @staticmethod
    def definition(found: Function | Class | Module | str) -> Value:
        """The value of something defined or imported."""
        if isinstance(found, Function):
            return Value(Kind.FUNCTION, payload=found)
        if isinstance(found, Class):
            return Value(Kind.CLASS, payload=found)
        return external(found) if isinstance(found, str) else Value(Kind.MODULE, payload=found)

    def named(self, value: Value, name: str) -> Value:
        """What the name of an attribute or variable tells where nothing else does."""
        if value.device not in {Device.UNKNOWN, Device.MIXED} or value.payload is not None:
            return value
        if value.kind is not Kind.UNKNOWN and value.kind is not Kind.TENSOR:
            return value
        place = place_of(self.solver.conventions, name)
        if place is Device.UNKNOWN or not self.assume():
            return value
        if place is Device.CPU:
            if value.kind is Kind.TENSOR or name.endswith("cpu"):
                return refine(value, kind=Kind.TENSOR, device=Device.CPU, confidence=Confidence.ASSUMED)
            return NDARRAY if name.endswith("_np") else value
        if place is Device.CUDA and value.device is Device.MIXED:
            return refine(value, device=place)  # the name agrees with what the source shows
        if place is Device.CUDA:
            evidence = Evidence(
                self.module.path, getattr(self.function.node, "lineno", 1), f"`{name}` is named so"
            )
            return refine(
                value, kind=Kind.TENSOR, device=Device.CUDA, confidence=Confidence.ASSUMED, evidence=evidence
            )
        return value

    def assumed_tensor(self, value: Value, name: str, path: str, line: int) -> Value:
        """A tensor of unknown place, such as an annotated parameter that nobody is seen to pass."""
        if value.kind is Kind.UNION:
            return union(tuple(self.assumed_tensor(option, name, path, line) for option in value.items or ()))
        if value.kind is not Kind.TENSOR or value.device is not Device.UNKNOWN:
            return self.named(value, name)
        if not self.assume():
            return value
        place = place_of(self.solver.conventions, name)
        if place is Device.CPU:
            return refine(value, device=Device.CPU, confidence=Confidence.ASSUMED)
        owner = self.function.owner
        of_forward = owner is not None and owner.is_module and self.function.name == "forward"
        confidence = Confidence.INFERRED if of_forward else Confidence.ASSUMED
        evidence = Evidence(path, line, f"`{name}` is a tensor, and nothing places it on the CPU")
        dtype = value.dtype or dtype_of(name)
        return refine(value, device=Device.CUDA, confidence=confidence, dtype=dtype, evidence=evidence)

    # Assigning

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a value to a target of an assignment."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, list_of(element_of(value)))
        if self.recorder is not None:
            self.recorder.value(target, value)

    def bind(self, name: str, value: Value, node: ast.AST) -> None:
        """Bind a name; others see it where it is one of a module, or an attribute of a class."""
        self.set_key(name, value)
        if self.class_body is not None:
            self.store_attribute(self.class_body, name, value, node)
        elif (cell := self._shared(name)) is not None:
            self.join_cell(cell, value, node, name)

    def _shared(self, name: str) -> Cell | None:
        """Where a name is kept that other functions see: by the module, or the function around this one."""
        function = self.function
        if function is self.module.body or name in function.global_names:
            return self.module.globals.setdefault(name, Cell())
        if name not in function.nonlocal_names:
            return None
        scope = function.parent
        while scope is not None and name not in self.solver.locals_of(scope):
            scope = scope.parent
        if scope is None:
            return None
        scope.rebound.add(name)
        return self._captured_cell(scope, name)

    def set_key(self, key: str, value: Value) -> None:
        """Bind a path in the environment; what was known of longer paths is forgotten."""
        stale = [
            known
            for known in self.env
            if known.startswith(key) and known[len(key) : len(key) + 1] in {".", "["}
        ]
        for known in stale:
            del self.env[known]
        self.env[key] = value

    def _unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        value = value.options[0] if value.kind is Kind.UNION and len(value.options) == 1 else value
        items = value.items
        if value.kind is Kind.INSTANCE and isinstance(value.payload, Class) and value.payload.is_record:
            items = tuple(
                attribute_of(self, value, name, target) for name in value.payload.fields()[: len(target.elts)]
            )
        starred = any(isinstance(item, ast.Starred) for item in target.elts)
        if (
            items is not None
            and len(items) == len(target.elts)
            and not starred
            and value.kind is not Kind.UNION
        ):
            for item, part in zip(target.elts, items, strict=True):
                self.assign(item, part)
            return
        part = element_of(value)
        for item in target.elts:
            self.assign(item, list_of(part) if isinstance(item, ast.Starred) else part)

    def _assign_attribute(self, target: ast.Attribute, value: Value) -> None:
        base = self.evaluate(target.value)
        key = key_of(target)
        if key:
            self.set_key(key, value)
        for option in base.options:
            if option.kind in {Kind.INSTANCE, Kind.CLASS} and isinstance(option.payload, Class):
                self.store_attribute(option.payload, target.attr, value, target)

    def store_attribute(self, cls: Class, name: str, value: Value, node: ast.AST) -> None:
        """Note that instances of a class hold a value in an attribute."""
        if value.kind is Kind.NONE or (value.kind is Kind.MODULE and isinstance(value.payload, Module)):
            return
        if not self.may_tell(cls.module):
            return
        if not any(name in base.stored for base in cls.mro()):
            self.solver.found_attribute(name)
        self.join_cell(cls.cell_for(name), value, node, key_of(node) or name)

    def may_tell(self, other: Module) -> bool:
        """Whether what is passed or set here says something about another module's code."""
        return other.is_outside or not self.module.is_outside

    def join_cell(self, cell: Cell, value: Value, node: ast.AST, text: str) -> None:
        """Add a value to what the fixed point refines."""
        stored = inferred(value)
        if cell.would_grow(stored):
            cell.join(explained(stored, self.module.path, getattr(node, "lineno", 1), f"`{text}` is set"))
            self.solver.changed(cell)

    def _assign_item(self, target: ast.Subscript, value: Value) -> None:
        base = self.evaluate(target.value)
        index = self.evaluate(target.slice)
        if base.kind in {Kind.TENSOR, Kind.UNION}:
            self.note_subscript(target, base, index, value)
        key = key_of(target)
        if key and base.kind not in {Kind.TENSOR, Kind.NDARRAY}:
            self.set_key(key, value)
        if base.kind in {Kind.DICT, Kind.LIST}:
            self.mutate(target.value, list_of(join(element_of(base), value), base.kind))

    def mutate(self, node: ast.expr, value: Value) -> None:
        """Note that a container, named by ``node``, holds something more."""
        key = key_of(node)
        if not key:
            return
        if key in self.env and isinstance(node, ast.Name):
            self.env[key] = value
            if (cell := self._shared(key)) is not None:
                self.join_cell(cell, value, node, key)
        elif isinstance(node, ast.Attribute):
            base = self.peek(node.value)
            self.env[key] = value
            for option in base.options:
                if option.kind is Kind.INSTANCE and isinstance(option.payload, Class):
                    self.store_attribute(option.payload, node.attr, value, node)

    # Results

    def returns(self, value: Value, line: int) -> None:
        """Note what the function returns at a line."""
        returned = inferred(value)
        if self.function.is_generator:
            return
        self._note_what_places(returned)
        if self.function.returns.would_grow(returned):
            text = f"returned by `{self.function.qualname}`"
            self.function_returns(explained(returned, self.module.path, line, text))

    def _note_what_places(self, returned: Value) -> None:
        """Note whether a result is on the GPU because an argument is, so that each caller gets its own."""
        function = self.function
        known = len(function.follows), function.leads
        for evidence in {id(evidence): evidence for evidence in evidence_in(returned)}.values():
            steps = evidence.chain() if evidence is not None else ()
            names = {self._passed[id(step)] for step in steps if id(step) in self._passed}
            function.follows |= names
            function.leads |= not names
        if known != (len(function.follows), function.leads):
            self.solver.changed(function.returns)

    def function_returns(self, value: Value) -> None:
        """Note what a call of the function gives."""
        if self.function.returns.join(value):
            self.solver.changed(self.function.returns)

    def yields(self, value: Value) -> None:
        """Note what a generator yields."""
        self.yielded = join(self.yielded, inferred(value))

    # Calls

    def call_function(
        self, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.expr
    ) -> Value:
        """Run a function of the project with these arguments."""
        return calls.call_function(self, function, args, kwargs, node)

    # Recording

    def unsure(self, *, unsure: bool = True) -> AbstractContextManager[None]:
        """Record nothing where a call may as well be another one."""
        return self._silent() if unsure and self.recorder is not None else nullcontext()

    def leave_out(self, body: list[ast.stmt]) -> None:
        """Note what is called in statements that are not followed, since only other hardware runs them."""
        with self.unsure():
            for statement in body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Call) and key_of(node.func):
                        callee = self.evaluate(node.func).payload
                        if isinstance(callee, Function):
                            self.solver.elsewhere[callee] = None

    @contextmanager
    def _silent(self) -> Iterator[None]:
        recorder, self.recorder = self.recorder, None
        try:
            yield
        finally:
            self.recorder = recorder

    def note_truth(self, node: ast.expr, value: Value) -> None:
        """Something asks for the truth, the text or the number of a value."""
        if any(option.is_gpu for option in value.options):
            self.function.may_block = True
            if self.recorder is not None:
                self.recorder.candidate()

    def note_subscript(
        self, node: ast.Subscript, base: Value, index: Value, value: Value | None = None
    ) -> None:
        """A subscript is read, or stored to."""
        if not self.function.may_block and (
            holds_gpu(base) or holds_gpu(index) or (value and holds_gpu(value))
        ):
            self.function.may_block = True
        if self.recorder is not None:
            self.recorder.subscript(self, node, base, index, value)

    def note_call(self, node: ast.expr, name: str, bound: Bound) -> None:
        """An operation of the table is called."""
        if bound.operation.blocks and not self.function.may_block:
            self.function.may_block = needs_no_gpu_operand(bound.operation) or any(
                map(holds_gpu, bound.operands())
            )
        if self.recorder is not None:
            self.recorder.call(node, name, bound)
