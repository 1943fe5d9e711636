"""The walks of a project, each computed at its first read, and their fixed point."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from syncscan.check.defects import defect
from syncscan.check.infer.source.index import Class, Function, Module, Parameter
from syncscan.check.infer.source.syntax import inside
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.lists import ListAttributes
from syncscan.check.prove.ran import Ran
from syncscan.check.prove.source import Definitions
from syncscan.check.prove.values import (
    ANYWHERE,
    BOTTOM,
    NONE,
    STRING,
    TOP,
    AbstractValue,
    constant_of,
    join,
    join_all,
    kept_inside,
    kept_outside,
    list_of,
    may_hold_gpu,
    with_keys,
)
from syncscan.check.prove.walk import Walk
from syncscan.facts import RETURN
from syncscan.model import Device, Kind

_TAKE_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_DEEPEST = 24  # nested walks and attributes in progress
_MOST_ITERATIONS = 12  # iterations of one walk, after which the walk is widened to anything
_UNSEEN = object()
_OPEN = AbstractValue(Kind.UNKNOWN, payload="no assumption")
_FACTS = "values are in every call what the runtime facts say"
Node = Function | tuple[Class, str]  # a walk, or an attribute
_MOST_WRITERS = 40  # functions that set an attribute, beyond which the attribute is widened to anything


class Prover:
    """The walks of one project."""

    def __init__(self, project: Definitions, assumptions: Assumptions, ran: Ran | None = None) -> None:
        self.source = project
        self.assumptions = assumptions
        self.ran = ran or Ran()
        self._values: dict[Node, Any] = {}  # walks, and the values of attributes
        self._in_progress: list[Node] = []  # each reads the next
        self._dependents: dict[Node, dict[Node, None]] = {}  # readers of the present value
        self._worklist: dict[Node, None] = {}  # the worklist: readers of values that have changed since
        self._iterations: Counter[Node] = Counter()
        self._lists = ListAttributes(project.modules)
        self._generators: dict[Function, bool] = {}
        self._hooks: list[Function | str] | None = None
        self.readers: dict[Function, frozenset[str]] = {}  # names whose containers a function only reads

    def walk(self, function: Function) -> Walk:
        """Return the walk of a function at the fixed point."""
        self.asked(function)
        while self._worklist:
            self._compute(next(iter(self._worklist)))
        found: Walk = self._values[function]
        return found

    def asked(self, function: Function) -> Walk:
        """Return the present walk of a function, for a reader."""
        walk: Walk = self._read(function)
        return walk

    def _read(self, node: Node) -> Any:
        """Return the present value of a node, and note the reader: a change puts readers on the worklist."""
        if node not in self._values and node not in self._in_progress:
            if len(self._in_progress) < _DEEPEST:
                self._compute(node)
            else:
                self._worklist[node] = None
        if self._in_progress:
            self._dependents.setdefault(node, {})[self._in_progress[-1]] = None
        if node in self._values:
            return self._values[node]
        return BOTTOM if isinstance(node, tuple) else _Nothing(node)

    def _compute(self, node: Node) -> None:
        """Compute a node again from the present values of others; put its readers on the worklist if the value changed."""
        self._worklist.pop(node, None)
        self._iterations[node] += 1
        self._in_progress.append(node)
        try:
            found = self._written(*node) if isinstance(node, tuple) else self._walked(node)
        finally:
            self._in_progress.pop()
        if self._iterations[node] > _MOST_ITERATIONS:
            found = _unfollowed(found) if isinstance(found, Walk) else TOP
        before = self._values.get(node, _UNSEEN)
        self._values[node] = found
        if before is _UNSEEN or _summary(before) != _summary(found):
            self._worklist.update(self._dependents.pop(node, {}))

    def _walked(self, function: Function) -> Walk:
        walk = Walk(function)
        frame = WalkFrame(self, walk)
        try:
            self._run(frame)
        except Exception as error:
            frame.unknown(function.node, f"the proof cannot follow this function: {defect(error)}")
            return _unfollowed(walk)
        return walk

    def _run(self, frame: WalkFrame) -> None:
        function, node = frame.function, frame.function.node
        for parameter in function.parameters:
            frame.bind(parameter.name, self.parameter(function, parameter.name))
        if isinstance(node, ast.Lambda):
            value = frame.evaluate(node.body)
            frame.walk.returned = value
            return
        if frame.run(node.body):
            frame.walk.returned = join(frame.walk.returned, NONE)

    def parameter(self, function: Function, name: str) -> AbstractValue:
        """Return the value of a parameter: the declared value, the object of a method, or else anything."""
        parameter = function.by_name[name]
        if parameter is function.parameters[0] and function.owner is not None and not function.is_static:
            kind = Kind.CLASS if function.is_of_class or function.name in _TAKE_CLASSES else Kind.INSTANCE
            return AbstractValue(kind, payload=function.owner)
        value = self._declared(function, parameter)
        if parameter.star:
            value = list_of(value, Kind.TUPLE) if parameter.star == "*" else _of_keywords(value)
            return self._met(value, [function], name)
        default = parameter.default
        if isinstance(default, ast.Constant) and default.value is None and value is not TOP:
            value = join(value, NONE)
        if may_hold_gpu(value):
            value = self._met(self._passed(function, name, value), [function], name)
        return self.assumptions.of_parameter(function, name, value)

    def _passed(self, function: Function, name: str, value: AbstractValue) -> AbstractValue:
        """Return what the recorded callers pass to a parameter; the value where one of them leaves that open."""
        callers = self.ran.callers(function)
        found = [] if callers else [value]
        for code, line in sorted(callers):
            caller = self.source.by_code.get(code)
            if caller is None:
                return value
            walk = self.asked(caller)
            calls = [BOTTOM] if isinstance(walk, _Nothing) else walk.passed_at(function, name, line)
            if not calls or TOP in calls:
                return value
            found += calls
        passed = join_all(found)
        return passed if passed is not BOTTOM and _is_narrower(passed, value) else value

    def _declared(self, function: Function, parameter: Parameter) -> AbstractValue:
        """Return the declared value of a parameter, joined with contradicting calls that the check has seen."""
        value = self.source.promised(parameter.annotation, function.module, function.parent or function)
        if value is TOP or _has_tensors(value):
            return value
        passed = self.source.passed(parameter)
        if passed is None or not _may_be_tensor(passed):
            return value
        recorded = self._passed(function, parameter.name, TOP)  # by walks, which know more than the check
        return value if recorded is not TOP and not _may_be_tensor(recorded) else join(value, passed)

    def _met(self, value: AbstractValue, functions: Iterable[Function], name: str) -> AbstractValue:
        """Return a value, narrowed by the runtime facts on a name in some functions where the value is open."""
        if not may_hold_gpu(value):
            return value
        found = [seen for each in functions if (seen := self.source.seen(each, name)) is not None]
        seen = join_all(found)
        if not found or TOP in found or not _is_narrower(seen, value):
            return value
        self.assumptions.used[_FACTS] = None
        return seen

    def returned(self, function: Function) -> AbstractValue:
        """Return the result of a function, for any arguments."""
        return self._met(self._returned(function), [function], RETURN)

    def _returned(self, function: Function) -> AbstractValue:
        if self._is_generator(function):
            return AbstractValue(Kind.LIST, element=TOP)
        known = self.assumptions.of_call(function, _OPEN)
        if known is not _OPEN:
            return known
        promised = TOP
        annotation = getattr(function.node, "returns", None)
        if annotation is not None:
            promised = self.source.promised(annotation, function.module, function.parent or function)
        if promised is not TOP and not _has_tensors(promised):
            return promised
        walk = self.asked(function)
        if walk.returned is BOTTOM and not isinstance(walk, _Nothing):
            return TOP
        found = kept_outside(walk.returned)
        if promised is TOP or (found.kind is promised.kind and found.kind is Kind.TENSOR):
            return found
        return promised

    def _is_generator(self, function: Function) -> bool:
        known = self._generators.get(function)
        if known is None:
            known = self._generators[function] = function.is_generator or _yields(function)
        return known

    def attribute(self, cls: Class, name: str) -> AbstractValue:
        """Return the value of an object's attribute: the declared value, or the join of all stores in the project."""
        written = self.written(cls, name)
        methods = [each for above in cls.mro() for each in above.methods.values()]
        met = self._met(TOP if written is None else written, methods, f"self.{name}")
        return self.assumptions.of_attribute(cls, name, met)

    def written(self, cls: Class, name: str) -> AbstractValue | None:
        """Return what is declared of an attribute, or all that the project sets it to; None where it does neither."""
        found: AbstractValue | None = self._read((cls, name))
        return found

    def _written(self, cls: Class, name: str) -> AbstractValue | None:
        for base in cls.mro():
            annotation = base.annotations.get(name)
            if annotation is not None:
                return self.source.promised(annotation, base.module, base.parent)
        values = self._all_written(cls, name)
        if not values:
            return None
        whole = join_all(values)
        if whole is BOTTOM:  # nothing sets it but what is made of it
            return TOP
        return _moved(whole) if cls.is_module else whole

    def _all_written(self, cls: Class, name: str) -> list[AbstractValue]:
        """Return the join of all values that the project stores into an attribute."""
        related = {*cls.mro(), *cls.subclasses, *(above for below in cls.subclasses for above in below.mro())}
        values = [constant_of(node.value) for _, node in self.source.set_in_bodies(related, name)]
        writers = [each for each in self.source.storing_for(related, name) if self.ran.body(each)]
        if len(writers) > _MOST_WRITERS:
            return [TOP]
        is_list = self._lists.has(name)
        keep = kept_inside if is_list else kept_outside
        for writer in writers:
            walk = self.asked(writer)
            stored = [*walk.stored.get(name, ()), *(walk.filled.get(name, ()) if is_list else ())]
            values += [keep(value) for base, value in stored if _may_be_of(base, related)]
            if TOP in values:
                return [TOP]
        return values

    def hooks(self) -> list[Function | str]:
        """Return the functions that the project registers as hooks of modules, and the places of unknown hooks."""
        if self._hooks is None:
            self._hooks = [hook for module in self.source.modules for hook in _hooks_of(self.source, module)]
        return self._hooks


class _Nothing(Walk):
    """A function that has yet to be walked."""

    def binds(self, _name: str) -> AbstractValue:
        """Return the bottom value: no name is bound yet."""
        return BOTTOM


def _unfollowed(walk: Walk) -> Walk:
    """Return a walk that may return, bind and store anything."""
    walk.returned, walk.bound, walk.passed = TOP, {}, {}
    walk.stored = walk.filled = _Anything()
    return walk


def _summary(found: Any) -> object:
    """Return the part of a walk, or of an attribute, that readers see."""
    if not isinstance(found, Walk):
        return found
    return found.returned, found.yielded, found.bound, found.stored, found.filled, found.passed


class _Anything(dict[str, list[tuple[AbstractValue, AbstractValue]]]):
    """The stores of a function that could not be followed: anything, anywhere."""

    def get(self, _key: str, _default: object = None) -> Any:
        """Return a store of anything into anything."""
        return [(TOP, TOP)]


def _moved(value: AbstractValue) -> AbstractValue:
    """Return an attribute of a module, whose tensors may be transferred with the module."""
    if value.kind is Kind.UNION:
        return join_all(map(_moved, value.items or ()))
    if value.kind is Kind.TENSOR:
        return join(value, ANYWHERE) if value.device is not Device.CUDA else value
    return value


def _may_be_of(base: AbstractValue, classes: set[Class]) -> bool:
    """Return whether the owner of an attribute that is set may be an object of some classes."""
    if base is BOTTOM:
        return False
    for option in base.options:
        if option.kind in {Kind.INSTANCE, Kind.CLASS}:
            if option.payload in classes:
                return True
        elif option.kind not in {Kind.NUMBER, Kind.STRING, Kind.TENSOR, Kind.NDARRAY, Kind.LIST, Kind.DICT}:
            return option.kind is not Kind.MODULE or not isinstance(option.payload, Module)
    return False


def _of_keywords(value: AbstractValue) -> AbstractValue:
    """Return the dictionary of keyword arguments of some value."""
    return with_keys(list_of(value, Kind.DICT), STRING)


def _is_narrower(seen: AbstractValue, value: AbstractValue) -> bool:
    """Return whether what was seen says more than a value does: it holds no tensor, or tensors where the value is one."""
    if value is TOP or not may_hold_gpu(seen):
        return True
    if {each.kind for each in seen.options} - {each.kind for each in value.options}:
        return False
    return all(each.kind is Kind.TENSOR or not may_hold_gpu(each) for each in seen.options)


def _may_be_tensor(value: AbstractValue) -> bool:
    return any(option.kind is Kind.TENSOR for option in value.options)


def _has_tensors(value: AbstractValue) -> bool:
    if value.kind is Kind.TENSOR:
        return True
    return any(map(_has_tensors, value.items or ())) or (
        value.element is not None and _has_tensors(value.element)
    )


def _yields(function: Function) -> bool:
    """Return whether the body of a function yields, in an expression too."""
    if isinstance(function.node, ast.Module):
        return False
    queue: list[ast.AST] = (
        [*function.node.body] if isinstance(function.node.body, list) else [function.node.body]
    )
    while queue:
        node = queue.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            queue += inside(node)
    return False


def _hooks_of(project: Definitions, module: Module) -> Iterator[Function | str]:
    """Yield the hooks that a module registers."""
    if "_hook(" not in module.lines.text:
        return
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        if not (name.startswith("register_") and name.endswith("hook")) or "state_dict" in name:
            continue
        hook = node.args[0] if node.args else None
        found: list[Function] = []
        if isinstance(hook, ast.Attribute):
            found = project.methods_named(hook.attr)
        elif isinstance(hook, ast.Name):
            found = [each for each in module.functions if each.name == hook.id]
        yield from found
        if not found:
            yield f"{module.path}:{node.lineno}"
