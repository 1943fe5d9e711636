"""The walks of a project, each made when it is first asked for, and what they tell one another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from syncscan.check.defects import defect
from syncscan.check.infer.source.index import Class, Function, Module, Parameter
from syncscan.check.infer.source.syntax import inside
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.source import Definitions
from syncscan.check.prove.values import (
    ANYWHERE,
    BOTTOM,
    NONE,
    NUMBER,
    STRING,
    TOP,
    AbstractValue,
    join,
    join_all,
    kept_outside,
    list_of,
)
from syncscan.check.prove.walk import Walk
from syncscan.model import Device, Kind

_TAKE_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_DEEPEST = 24  # walks that wait for one another
_MOST_WRITERS = 40  # functions that set an attribute, beyond which it may be anything


class Prover:
    """The walks of one project."""

    def __init__(self, project: Definitions, assumptions: Assumptions) -> None:
        self.source = project
        self.assumptions = assumptions
        self._walks: dict[Function, Walk] = {}
        self._under_way: set[Function] = set()
        self._attributes: dict[tuple[Class, str], AbstractValue] = {}
        self._generators: dict[Function, bool] = {}
        self._hooks: list[Function | str] | None = None
        self.readers: dict[Function, frozenset[str]] = {}  # names whose containers a function only reads

    def walk(self, function: Function) -> Walk | None:
        """Return the walk of a function; None while it is under way."""
        known = self._walks.get(function)
        if known is not None:
            return known
        if function in self._under_way:
            return None
        self._under_way.add(function)
        walk = Walk(function)
        frame = WalkFrame(self, walk)
        try:
            self._run(frame)
        except Exception as error:
            frame.unknown(function.node, f"the proof cannot follow this function: {defect(error)}")
            walk.returned, walk.bound, walk.stored = TOP, {}, _Anything()
        finally:
            self._under_way.discard(function)
        self._walks[function] = walk
        return walk

    def asked(self, function: Function) -> Walk | None:
        """Return the walk of a function for what another one asks of it; None where that would go too deep."""
        if function not in self._walks and len(self._under_way) >= _DEEPEST:
            return None
        return self.walk(function)

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
        """Return what a parameter may be: what its annotation says, the object of a method, or else anything."""
        parameter = function.by_name[name]
        if parameter is function.parameters[0] and function.owner is not None and not function.is_static:
            kind = Kind.CLASS if function.is_of_class or function.name in _TAKE_CLASSES else Kind.INSTANCE
            return AbstractValue(kind, payload=function.owner)
        value = self._declared(function, parameter)
        if parameter.star:
            return list_of(value, Kind.TUPLE if parameter.star == "*" else Kind.DICT)
        default = parameter.default
        if isinstance(default, ast.Constant) and default.value is None and value is not TOP:
            value = join(value, NONE)
        return self.assumptions.of_parameter(function, name, value)

    def _declared(self, function: Function, parameter: Parameter) -> AbstractValue:
        """Return what an annotation says of a parameter, where no call that the check has seen contradicts it."""
        value = self.source.promised(parameter.annotation, function.module, function.parent or function)
        if value is TOP or _has_tensors(value):
            return value
        passed = self.source.passed(parameter)
        if passed is None or all(option.kind is not Kind.TENSOR for option in passed.options):
            return value
        return join(value, passed)

    def returned(self, function: Function) -> AbstractValue:
        """Return what a call of a function gives, for whatever arguments."""
        if self._is_generator(function):
            return AbstractValue(Kind.LIST, element=TOP)
        known = self.assumptions.of_call(function)
        if known is not None:
            return known
        promised = TOP
        annotation = getattr(function.node, "returns", None)
        if annotation is not None:
            promised = self.source.promised(annotation, function.module, function.parent or function)
        if promised is not TOP and not _has_tensors(promised):
            return promised
        walk = self.asked(function)
        found = kept_outside(walk.returned) if walk is not None and walk.returned is not BOTTOM else TOP
        if promised is TOP or (found.kind is promised.kind and found.kind is Kind.TENSOR):
            return found
        return promised

    def _is_generator(self, function: Function) -> bool:
        known = self._generators.get(function)
        if known is None:
            known = self._generators[function] = function.is_generator or _yields(function)
        return known

    def attribute(self, cls: Class, name: str) -> AbstractValue:
        """Return what an attribute of an object may be: what is declared, or all that the project sets it to."""
        key = (cls, name)
        known = self._attributes.get(key)
        if known is None:
            self._attributes[key] = TOP  # which it may be for those that ask meanwhile
            found = self.assumptions.of_attribute(cls, name, self._attribute(cls, name))
            known = self._attributes[key] = found
        return known

    def _attribute(self, cls: Class, name: str) -> AbstractValue:
        written = self.written(cls, name)
        return TOP if written is None else written

    def written(self, cls: Class, name: str) -> AbstractValue | None:
        """Return what is declared of an attribute, or all that the project sets it to; None where it does neither."""
        for base in cls.mro():
            annotation = base.annotations.get(name)
            if annotation is not None:
                return self.source.promised(annotation, base.module, base.parent)
        values = self._all_written(cls, name)
        if not values:
            return None
        return _moved(join_all(values)) if cls.is_module else join_all(values)

    def _all_written(self, cls: Class, name: str) -> list[AbstractValue]:
        """Return everything that the project sets an attribute to."""
        related = {*cls.mro(), *cls.subclasses, *(above for below in cls.subclasses for above in below.mro())}
        values = self._set_in_bodies(related, name)
        writers = self.source.storing_for(related, name)
        if len(writers) > _MOST_WRITERS:
            return [TOP]
        for writer in writers:
            walk = self.asked(writer)
            if walk is None:
                return [TOP]
            stored = walk.stored.get(name, ())
            values += [kept_outside(value) for base, value in stored if _may_be_of(base, related)]
            if TOP in values:
                return [TOP]
        return values

    def hooks(self) -> list[Function | str]:
        """Return the functions that the project registers as hooks of modules, and the places where that cannot be told."""
        if self._hooks is None:
            self._hooks = [hook for module in self.source.modules for hook in _hooks_of(self.source, module)]
        return self._hooks

    def _set_in_bodies(self, related: set[Class], name: str) -> list[AbstractValue]:
        """Return what the bodies of classes set."""
        return [
            constant_of(node.value)
            for cls in related
            for node in cls.node.body
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        ]


class _Anything(dict[str, list[tuple[AbstractValue, AbstractValue]]]):
    """What a function that could not be followed may store: anything, anywhere."""

    def get(self, _key: str, _default: object = None) -> Any:
        """Return that anything may be stored in anything."""
        return [(TOP, TOP)]


def constant_of(node: ast.expr) -> AbstractValue:
    """Return the value of a literal; anything for all else."""
    from syncscan.check.infer.domain.basic import constant  # noqa: PLC0415

    if isinstance(node, ast.Constant):
        return constant(node.value) if not isinstance(node.value, bytes) else STRING
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return NUMBER
    if isinstance(node, ast.Tuple):
        return list_of(join_all(map(constant_of, node.elts)) if node.elts else TOP, Kind.TUPLE)
    return TOP


def _moved(value: AbstractValue) -> AbstractValue:
    """Return an attribute of a module, whose tensors may move with it."""
    if value.kind is Kind.UNION:
        return join_all(map(_moved, value.items or ()))
    if value.kind is Kind.TENSOR:
        return join(value, ANYWHERE) if value.device is not Device.CUDA else value
    return value


def _may_be_of(base: AbstractValue, classes: set[Class]) -> bool:
    """Return whether what an attribute is set on may be an object of some classes."""
    for option in base.options:
        if option.kind in {Kind.INSTANCE, Kind.CLASS}:
            if option.payload in classes:
                return True
        elif option.kind not in {Kind.NUMBER, Kind.STRING, Kind.TENSOR, Kind.NDARRAY, Kind.LIST, Kind.DICT}:
            return option.kind is not Kind.MODULE or not isinstance(option.payload, Module)
    return False


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
