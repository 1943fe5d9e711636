"""Names, constants, attributes and subscripts: what an expression is made of."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import named
from syncscan.check.infer.evaluate.names import outer_name
from syncscan.check.infer.evaluate.registry import EXPRESSIONS, register
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.table.subscripts import read_item
from syncscan.check.infer.values.basic import constant, slice_of
from syncscan.model import ARRAYS, UNKNOWN, Kind, Value


@register(EXPRESSIONS, ast.Name)
def _name(frame: Frame, node: ast.Name) -> Value:
    value = frame.env.get(node.id)
    if value is not None:
        return value
    return outer_name(frame, node.id)


@register(EXPRESSIONS, ast.Constant)
def _constant(frame: Frame, node: ast.Constant) -> Value:
    return constant(node.value)


@register(EXPRESSIONS, ast.Attribute)
def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    key = frame.path(node)
    if key and (known := frame.env.get(key)) is not None:
        return known
    base = frame.evaluate(node.value)
    return named(frame, frame.attribute(base, node.attr, node), node.attr)


@register(EXPRESSIONS, ast.Subscript)
def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    key = frame.path(node)
    if key and (known := frame.env.get(key)) is not None:
        frame.evaluate(node.value)
        return known
    base = frame.evaluate(node.value)
    index = frame.evaluate(node.slice)
    if base.kind in ARRAYS or base.kind is Kind.UNION:
        frame.note_subscript(node, base, index)
    item = of_table(frame, base, index, node) or read_item(base, index)
    return named(frame, item, index.payload) if isinstance(index.payload, str) else item


def of_table(frame: Frame, base: Value, key: Value, node: ast.expr) -> Value | None:
    """What a ``TypedDict`` has under a key; None for anything else."""
    cls = base.payload if base.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class) or not cls.is_table:
        return None
    return frame.attribute(base, key.payload, node) if isinstance(key.payload, str) else UNKNOWN


@register(EXPRESSIONS, ast.Slice)
def _slice(frame: Frame, node: ast.Slice) -> Value:
    return slice_of(frame.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None)


@register(EXPRESSIONS, ast.Starred, ast.Await)
def _inner(frame: Frame, node: ast.Starred | ast.Await) -> Value:
    return frame.evaluate(node.value)
