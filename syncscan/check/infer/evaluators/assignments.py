"""Assignments: which names, attributes and items they bind."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import named
from syncscan.check.infer.evaluate.registry import EXPRESSIONS, STATEMENTS, TARGETS, register
from syncscan.check.infer.evaluate.storing import bind, bind_path, mutate, store_attribute
from syncscan.check.infer.evaluators.mirrors import note_advanced
from syncscan.check.infer.evaluators.operators import binary
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.values.basic import EMPTY, element_of, list_of, put
from syncscan.check.infer.values.lattice import join
from syncscan.model import UNKNOWN, Kind, Value


@register(STATEMENTS, ast.Assign)
def _assign(frame: Frame, node: ast.Assign) -> None:
    value = frame.evaluate(node.value)
    for target in node.targets:
        frame.assign(target, named(frame, value, target.id) if isinstance(target, ast.Name) else value)


@register(STATEMENTS, ast.AnnAssign)
def _ann_assign(frame: Frame, node: ast.AnnAssign) -> None:
    promised = UNKNOWN
    if frame.class_body is None:  # what is promised of an attribute counts where nothing is seen to set it
        promised = frame.context.annotations.read(node.annotation, frame.module, frame.function)
    if node.value is None:
        if promised is not UNKNOWN and isinstance(node.target, ast.Name):
            frame.assign(node.target, promised)
        return
    value = frame.evaluate(node.value)
    is_empty = value.element is UNKNOWN or value is EMPTY
    if value.kind is Kind.UNKNOWN or (is_empty and promised.element is not None):
        value = promised
    frame.assign(node.target, value)


@register(STATEMENTS, ast.AugAssign)
def _aug_assign(frame: Frame, node: ast.AugAssign) -> None:
    old = frame.evaluate(node.target)  # read first: the evaluators of what can be a target ask for no context
    value = frame.evaluate(node.value)
    result = binary(old, value, node.op)
    if old.kind is Kind.TENSOR:
        result = old  # in place: the tensor stays where it is
    if isinstance(node.op, ast.Add):
        note_advanced(frame, node.target)
    if isinstance(node.target, ast.Subscript) and old.kind in {Kind.TENSOR, Kind.UNION}:
        base = frame.peek(node.target.value)
        frame.note_subscript(node.target, base, frame.peek(node.target.slice), result)
        return
    frame.assign(node.target, result)


@register(EXPRESSIONS, ast.NamedExpr)
def _named_expr(frame: Frame, node: ast.NamedExpr) -> Value:
    value = frame.evaluate(node.value)
    frame.assign(node.target, value)
    frame.named_in_expressions.append(node.target.id)
    return value


@register(STATEMENTS, ast.Delete)
def _delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        frame.env.forget(frame.path(target))


@register(TARGETS, ast.Name)
def _to_name(frame: Frame, target: ast.Name, value: Value) -> None:
    bind(frame, target.id, value, target)


@register(TARGETS, ast.Starred)
def _to_rest(frame: Frame, target: ast.Starred, value: Value) -> None:
    frame.assign(target.value, list_of(element_of(value)))


@register(TARGETS, ast.Tuple, ast.List)
def _to_several(frame: Frame, target: ast.Tuple | ast.List, value: Value) -> None:
    value = value.options[0] if value.kind is Kind.UNION and len(value.options) == 1 else value
    items = _items(frame, value, target)
    starred = any(isinstance(item, ast.Starred) for item in target.elts)
    if items is not None and len(items) == len(target.elts) and not starred:
        for item, part in zip(target.elts, items, strict=True):
            frame.assign(item, part)
        return
    part = element_of(value)
    for item in target.elts:
        frame.assign(item, list_of(part) if isinstance(item, ast.Starred) else part)


def _items(frame: Frame, value: Value, target: ast.Tuple | ast.List) -> tuple[Value, ...] | None:
    """The items of a tuple, or the fields of a record, if they are known one by one."""
    if value.kind is Kind.UNION:
        return None
    if value.kind is Kind.INSTANCE and isinstance(value.payload, Class) and value.payload.is_record:
        fields = frame.fields(value.payload)[: len(target.elts)]
        return tuple(frame.attribute(value, name, target) for name in fields)
    return value.items


@register(TARGETS, ast.Attribute)
def _to_attribute(frame: Frame, target: ast.Attribute, value: Value) -> None:
    base = frame.evaluate(target.value)
    path = frame.path(target)
    if path:
        bind_path(frame, path, value)
    for option in base.options:
        if option.kind in {Kind.INSTANCE, Kind.CLASS} and isinstance(option.payload, Class):
            store_attribute(frame, option.payload, target.attr, value, target)


@register(TARGETS, ast.Subscript)
def _to_item(frame: Frame, target: ast.Subscript, value: Value) -> None:
    base = frame.evaluate(target.value)
    index = frame.evaluate(target.slice)
    if base.kind in {Kind.TENSOR, Kind.UNION}:
        frame.note_subscript(target, base, index, value)
    path = frame.path(target)
    if path and base.kind not in {Kind.TENSOR, Kind.NDARRAY}:
        bind_path(frame, path, value)
    if base.kind is Kind.DICT:
        mutate(frame, target.value, put(base, index, value))
    elif base.kind is Kind.LIST:
        mutate(frame, target.value, list_of(join(element_of(base), value), base.kind))
