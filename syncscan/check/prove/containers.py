"""Iterating, unpacking and entering: calls that have no parentheses."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Class
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.packages import CONTAINERS_OF_MODULES, HARMLESS_CONTEXTS, is_harmless_base
from syncscan.check.prove.special import ITERATION, MAPPING, runs, runs_method, runs_of_torch
from syncscan.check.prove.values import (
    BOTTOM,
    HOST,
    NO_TENSOR,
    SWALLOWING,
    TOP,
    UNREACHED,
    AbstractValue,
    elements,
    join_all,
    options_of,
    truth,
)
from syncscan.model import Kind

_HOST = frozenset(
    {Kind.NONE, Kind.NUMBER, Kind.DEVICE, Kind.DTYPE, Kind.CLASS, Kind.FUNCTION, Kind.SLICE, Kind.MODULE}
)


def iterates(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> AbstractValue:
    """Walk an iteration over a value; return the result."""
    found: list[AbstractValue] = [BOTTOM] if value is BOTTOM else []
    for option in value.options or (value,) if value is not BOTTOM else ():
        if option.kind is Kind.UNKNOWN:
            if not frame.prover.ran.knows_calls:  # a generator's walk has run by then
                frame.unknown(node, "iterates over what is not known, which may run any generator")
            found.append(TOP)
        elif option.kind is Kind.INSTANCE:
            found.append(_of_instance(frame, node, option))
        elif option.kind is Kind.CLASS:
            runs(frame, node, option, *ITERATION)
            found.append(TOP)
        else:
            found.append(elements(option))
    return join_all(found)


def _of_instance(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> AbstractValue:
    cls = value.payload
    if value is HOST:
        return HOST
    if not isinstance(cls, Class):
        if cls in CONTAINERS_OF_MODULES:
            runs_of_torch(frame, node, *ITERATION)
        else:
            frame.unknown(node, f"iterates over an object of `{cls}`")
        return TOP
    methods = [method for name in ITERATION for method in frame.source.overrides(cls, name)]
    runs(frame, node, value, *ITERATION)
    if not methods and cls.is_named_tuple:
        return join_all([frame.prover.attribute(cls, name) for name in cls.fields()] or [TOP])
    if not methods and not all(map(is_harmless_base, cls.external_bases)):
        frame.unknown(node, f"iterates over an object of `{cls.name}`, whose iteration is not in the project")
    return TOP


def spreads_mapping(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> None:
    """Walk the reading of all items of a mapping: ``f(**x)``, ``{**x}`` and ``dict(x)``."""
    runs(frame, node, value, *MAPPING)


def unpacked(frame: WalkFrame, node: ast.AST, value: AbstractValue, count: int) -> list[AbstractValue]:
    """Walk the unpacking of a value into targets; return the value of each target."""
    starred = any(isinstance(each, ast.Starred) for each in getattr(node, "elts", ()))
    if value.kind is Kind.TUPLE and value.items is not None and len(value.items) == count and not starred:
        return list(value.items)
    cls = value.payload if value.kind is Kind.INSTANCE else None
    if isinstance(cls, Class) and cls.is_named_tuple and not starred and len(cls.fields()) == count:
        return [frame.prover.attribute(cls, name) for name in cls.fields()]
    return [iterates(frame, node, value)] * count


def enters(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> AbstractValue:
    """Walk the entering and leaving of a context; return the result."""
    if value is BOTTOM:
        return BOTTOM
    return join_all([_entered(frame, node, option) for option in value.options or (value,)])


def _entered(frame: WalkFrame, node: ast.AST, context: AbstractValue) -> AbstractValue:
    cls = context.payload if context.kind is Kind.INSTANCE else None
    if isinstance(cls, Class):
        methods = [
            method for name in ("__enter__", "__aenter__") for method in frame.source.overrides(cls, name)
        ]
        left = [method for name in ("__exit__", "__aexit__") for method in frame.source.overrides(cls, name)]
        for method in (*methods, *left):
            runs_method(frame, node, method)
        if not methods:
            frame.unknown(node, f"enters an object of `{cls.name}`, whose `__enter__` is not in the project")
        return join_all([frame.prover.returned(method) for method in methods] or [TOP])
    if context.kind is Kind.DEVICE:
        return NO_TENSOR
    if context.kind not in _HOST and not (isinstance(cls, str) and cls in HARMLESS_CONTEXTS):
        frame.unknown(node, "enters a context that is not known")
    return TOP


def may_swallow(frame: WalkFrame, context: AbstractValue) -> bool:
    """Return whether a context may swallow an exception that is raised inside; an unknown one may."""
    return any(_may_swallow(frame, option) for option in context.options or (context,))


def _may_swallow(frame: WalkFrame, context: AbstractValue) -> bool:
    cls = context.payload
    if context.kind is not Kind.INSTANCE:
        return context.kind not in _HOST and context is not BOTTOM
    if not isinstance(cls, Class):
        is_known = context is HOST or cls in HARMLESS_CONTEXTS or cls.startswith("torch.")
        return context.payload == SWALLOWING.payload or not is_known
    left = [method for name in ("__exit__", "__aexit__") for method in frame.source.overrides(cls, name)]
    if not left:
        return not all(is_harmless_base(base) for above in cls.mro() for base in above.external_bases)
    return any(
        bool(method.decorators) or truth(option) not in (False, UNREACHED)
        for method in left
        for option in options_of(frame.prover.returned(method))
    )
