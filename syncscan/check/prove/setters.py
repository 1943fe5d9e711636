"""Stores to attributes, and the methods that run there: setters of properties, and ``__setattr__`` with the name."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Class
from syncscan.check.prove.callbacks import receives
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.outline import SETTER
from syncscan.check.prove.values import STRING, AbstractValue, refine
from syncscan.model import Kind


def sets_attribute(
    frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str, value: AbstractValue
) -> None:
    """Walk the setting of an attribute of a known name."""
    frame.walk.stored.setdefault(name, []).append((base, value))
    if not all(_is_plain(option, name) for option in base.options or (base,)):
        receives(frame, node, [value])
    _runs_setters(frame, node, base, name)


def _is_plain(base: AbstractValue, name: str) -> bool:
    """Return whether only calls of the attribute call what it is set to: an object whose class has no base outside."""
    cls = base.payload
    if base.kind is not Kind.INSTANCE or not isinstance(cls, Class) or name.startswith("__"):
        return False
    return not any(each.external_bases for each in cls.mro())


def _runs_setters(frame: WalkFrame, node: ast.AST, base: AbstractValue, name: str) -> None:
    """Note the methods that run where an attribute of a name is set."""
    for method in frame.source.methods_named(SETTER):
        if not _may_be(base, method.owner) and not any(each.kind is Kind.CLASS for each in base.options):
            continue
        named = [each for each in method.parameters[1:2] if not each.star]
        is_mangled = name.startswith("__") and not name.endswith("__")
        if named and not is_mangled and not method.decorators:
            frame.runs(node, method, {each.name: refine(STRING, payload=name) for each in named})
        else:
            frame.calls(node, method)
    for method in frame.source.setters(name):
        if _may_be(base, method.owner):
            frame.calls(node, method)


def _may_be(base: AbstractValue, cls: Class | None) -> bool:
    """Return whether a value may be an object of a class."""
    for option in base.options or (base,):
        if option.kind is Kind.UNKNOWN:
            return True
        other = option.payload
        if isinstance(other, Class) and cls is not None and (cls in other.mro() or other in cls.mro()):
            return True
    return False
