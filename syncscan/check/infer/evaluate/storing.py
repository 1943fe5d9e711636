"""Binding names and attributes, for this function and for those that read them elsewhere."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.known.cells import Cell, joined
from syncscan.check.infer.source.index import Class, Module
from syncscan.check.infer.source.syntax import path_of
from syncscan.check.infer.values.passing import explained, inferred
from syncscan.model import UNKNOWN, Kind, Value


def bind(frame: Frame, name: str, value: Value, node: ast.AST) -> None:
    """Bind a name; others see it where it is one of a module, or an attribute of a class."""
    bind_path(frame, name, value)
    if frame.class_body is not None:
        store_attribute(frame, frame.class_body, name, value, node)
    elif (cell := shared_cell(frame, name)) is not None:
        tell_if_new(frame, cell, value, node, name)


def bind_path(frame: Frame, path: str, value: Value) -> None:
    """Bind a path in the environment; what was known of longer paths is forgotten."""
    frame.env.forget_inside(path)
    frame.env[path] = value


def shared_cell(frame: Frame, name: str) -> Cell[Value] | None:
    """Where a name is kept that other functions see: by the module, or the function around this one."""
    function, known = frame.function, frame.context.known
    if function is frame.module.body or name in function.global_names:
        return known.globals[frame.module, name]
    if name not in function.nonlocal_names:
        return None
    scope = frame.context.scopes.scope_of(function, name)
    return known.captured[scope, name] if scope is not None else None


def store_attribute(frame: Frame, cls: Class, name: str, value: Value, node: ast.AST) -> None:
    """Note that instances of a class hold a value in an attribute."""
    if value.kind is Kind.NONE or (value.kind is Kind.MODULE and isinstance(value.payload, Module)):
        return
    if not frame.may_tell(cls.module):
        return
    known = frame.context.known
    frame.asks(cls, name)
    owner = next((base for base in reversed(cls.mro()) if name in base.stored), None)
    if owner is None:
        owner = cls
        frame.tell(known.set_outside[name], frozenset({cls}))
    if frame.function is frame.module.body:
        tell_if_new(frame, known.set_in_bodies[owner, name], value, node, path_of(node) or name)
    tell_if_new(frame, known.attributes[owner, name], value, node, path_of(node) or name)


def news(frame: Frame, cell: Cell[Value], value: Value) -> Value | None:
    """A value as those know it who read a cell; None where this function tells them that already."""
    known = frame.told(cell)
    if value is UNKNOWN or known is value:
        return None
    crossing = inferred(value)
    return crossing if joined(known, crossing) is not None else None


def tell(frame: Frame, cell: Cell[Value], new: Value, node: ast.AST, text: str) -> None:
    """Tell news to those who read a cell, with a step of evidence."""
    frame.tell(cell, explained(new, frame.module.path, node, text, cell))


def tell_if_new(frame: Frame, cell: Cell[Value], value: Value, node: ast.AST, path: str) -> None:
    """Tell what is set at a path."""
    new = news(frame, cell, value)
    if new is not None:
        tell(frame, cell, new, node, f"`{path}` is set")


def mutate(frame: Frame, node: ast.expr, value: Value) -> None:
    """Note that a container, named by ``node``, holds something more."""
    path = frame.path(node)
    if not path:
        return
    if path in frame.env and isinstance(node, ast.Name):
        frame.env[path] = value
        if (cell := shared_cell(frame, path)) is not None:
            tell_if_new(frame, cell, value, node, path)
    elif (
        isinstance(node, ast.Name) and path in frame.module.globals
    ):  # of the module, filled by this function
        tell_if_new(frame, frame.context.known.globals[frame.module, path], value, node, path)
    elif isinstance(node, ast.Attribute):
        base = frame.peek(node.value)
        frame.env[path] = value
        for option in base.options:
            if option.kind is Kind.INSTANCE and isinstance(option.payload, Class):
                store_attribute(frame, option.payload, node.attr, value, node)
