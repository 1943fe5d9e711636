"""Functions and classes as values: the receivers that may call them.

The walks follow such a value through names and attributes of the project. Each call that is given one may call it, and so may
the owner of a container that holds one. A value that a function returns, or that is defined inside a function, counts as called too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from syncscan.check.infer.domain.callables import BoundMethod
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.prove.frame import Arguments, WalkFrame
from syncscan.check.prove.values import AbstractValue, parts_of
from syncscan.model import Kind

_ANY = Arguments(spreads=True)


def receives(
    frame: WalkFrame, node: ast.AST, values: Iterable[AbstractValue], *, classes: bool = True
) -> None:
    """Note that a receiver may call the functions and classes among values, and those in containers."""
    for value in values:
        for option in parts_of(value):
            if (
                _is_blocking(frame, option)
                or (classes and isinstance(definition_of(option), Class))
                or _is_callback(frame, option)
            ):
                frame.call(node, option, _ANY)


def _is_callback(frame: WalkFrame, value: AbstractValue) -> bool:
    function = definition_of(value)
    return (
        isinstance(function, Function)
        and not function.is_kernel
        and frame.source.declared.get(function) is None
    )


def _is_blocking(frame: WalkFrame, value: AbstractValue) -> bool:
    """Return whether a value is an operation of the table that may block."""
    name = value.payload if value.kind is Kind.MODULE else None
    operation = frame.source.operation(name) if isinstance(name, str) else None
    return operation is not None and bool(operation.blocks or operation.sometimes)


def definition_of(value: AbstractValue) -> Function | Class | None:
    """Return the function or the class of the project that a value is."""
    found = value.payload.function if isinstance(value.payload, BoundMethod) else value.payload
    if value.kind is Kind.FUNCTION and isinstance(found, Function):
        return found
    return found if value.kind is Kind.CLASS and isinstance(found, Class) else None
