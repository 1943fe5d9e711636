"""Stores to attributes, and the methods that run there: setters of properties, and ``__setattr__`` with the name."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Class, Function
from syncscan.check.prove.callbacks import receives
from syncscan.check.prove.data import sets_data
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.outline import DATA, SETTER
from syncscan.check.prove.special import runs, runs_descriptors, runs_method, runs_replaced
from syncscan.check.prove.values import STRING, AbstractValue, refine, used_later
from syncscan.model import Kind


def sets_attribute(
    frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str, value: AbstractValue
) -> None:
    """Walk the setting of an attribute of a known name."""
    value = used_later(value)
    frame.walk.stored.setdefault(name, []).append((base, value))
    if not all(_is_plain(option, name) for option in base.options or (base,)):
        receives(frame, node, [value])
    if name == DATA:
        sets_data(frame, node, base, value)
    if any(option.kind is Kind.CLASS for option in base.options):  # where it may describe the attribute
        runs(frame, node, value, "__get__", "__set__", "__delete__")
        objects = [option for option in value.options or (value,) if option.kind is Kind.INSTANCE]
        for each in objects:
            runs(frame, node, each, "__call__")
    runs_setters(frame, node, base, name)


def _is_plain(base: AbstractValue, name: str) -> bool:
    """Return whether only calls of the attribute call what it is set to: an object whose class has no base outside."""
    cls = base.payload
    if base.kind is not Kind.INSTANCE or not isinstance(cls, Class) or name.startswith("__"):
        return False
    return not any(each.external_bases for each in cls.mro())


def runs_setters(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str) -> None:
    """Note the methods that run where an attribute of a name is set."""
    runs_property_setters(frame, node, base, name)
    for option in base.options or (base,):
        runs_replaced(frame, node, option, SETTER)
    is_class = any(each.kind is Kind.CLASS for each in base.options)
    for cls, method in frame.source.definers(SETTER):
        if is_class or _may_be(base, cls):
            _runs_setter(frame, node, method, name)


def runs_property_setters(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str) -> None:
    """Note the setters of properties, and the descriptors, that run where Python itself sets an attribute."""
    runs_descriptors(frame, node, base, name, "__set__")
    for owner, method in (
        *_made_in_bodies(frame, name),
        *((each.owner, each) for each in frame.source.setters(name)),
    ):
        if _may_be(base, owner):
            runs_method(frame, node, method)


def _runs_setter(frame: WalkFrame, node: ast.AST, method: Function, name: str) -> None:
    """Note the run of a ``__setattr__`` for an attribute."""
    named = [each for each in method.parameters[1:2] if not each.star]
    is_mangled = name.startswith("__") and not name.endswith("__")
    if named and not is_mangled and not method.decorators:
        frame.runs(node, method, {each.name: refine(STRING, payload=name) for each in named})
    else:
        runs_method(frame, node, method)


def deletes_attribute(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str) -> None:
    """Walk the deleting of an attribute of a known name."""
    runs(frame, node, base, "__delattr__")
    runs_descriptors(frame, node, base, name, "__delete__")
    deleters = [
        each
        for each in frame.source.methods_named(name)
        if any(d.endswith(".deleter") for d in each.decorators)
    ]
    for owner, method in (*_made_in_bodies(frame, name), *((each.owner, each) for each in deleters)):
        if _may_be(base, owner):
            runs_method(frame, node, method)


def _made_in_bodies(frame: WalkFrame, name: str) -> list[tuple[Class, Function]]:
    """Return the functions that class bodies make into an attribute, each with its class: ``size = property(get, set)``."""
    bodies = frame.source.bodies
    return [(cls, method) for cls in bodies.assigning(name) for method in bodies.functions(cls, name)]


def _may_be(base: AbstractValue, cls: Class | None) -> bool:
    """Return whether a value may be an object of a class."""
    for option in base.options or (base,):
        if option.kind is Kind.UNKNOWN:
            return True
        other = option.payload
        if isinstance(other, Class) and cls is not None and _are_related(other, cls):
            return True
    return False


def _are_related(one: Class, other: Class) -> bool:
    """Return whether an object may be of two classes at once: of one below both."""
    return other in one.mro() or any(other in below.mro() for below in one.subclasses)
