"""Lowering of assignments: the names, attributes and items that they bind."""

from __future__ import annotations

import ast

from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.lower.calls import mutate
from syncscan.check.infer.lower.expressions import operator_name
from syncscan.check.infer.lower.lowering import STATEMENTS, TARGETS, Lowering, lowers
from syncscan.check.infer.source.mirrors import advances, mirrored


@lowers(STATEMENTS, ast.Assign)
def _assign(to: Lowering, node: ast.Assign) -> None:
    slot = to.evaluate(node.value)
    for target in node.targets:
        to.assign(target, slot)


@lowers(STATEMENTS, ast.AnnAssign)
def _ann_assign(to: Lowering, node: ast.AnnAssign) -> None:
    in_class = to.class_body is not None  # where it counts if nothing is seen to set the attribute
    if node.value is None:
        if not in_class and isinstance(node.target, ast.Name):
            slot = to.emit(Op.ANNOTATED, (), node.annotation)
            to.assign(node.target, slot)
        return
    slot = to.evaluate(node.value)
    if not in_class:
        slot = to.emit(Op.ANNOTATED, (slot,), node.annotation)
    to.assign(node.target, slot)


@lowers(STATEMENTS, ast.AugAssign)
def _aug_assign(to: Lowering, node: ast.AugAssign) -> None:
    old = to.evaluate(node.target)
    slot = to.evaluate(node.value)
    result = to.emit(Op.AUGMENTED, (old, slot), operator_name(node.op))
    if isinstance(node.op, ast.Add):
        _note_advanced(to, node.target)
    if isinstance(node.target, ast.Subscript):
        base, index = to.peek(node.target.value), to.peek(node.target.slice)
        stored = to.emit(Op.STORE_ITEM, (base, index, result, old))
        _bind_item(to, node.target, (base, index, result), stored)
        _put(to, node.target, (base, index, slot), operator_name(node.op))
        return
    to.assign(node.target, result)


def _note_advanced(to: Lowering, target: ast.expr) -> None:
    """Emit a mirror for ``self.lens_cpu[rows] += n``, where ``self.lens_cpu`` repeats ``self.lens`` on the host."""
    place = target.value if isinstance(target, ast.Subscript) else target
    if not isinstance(place, ast.Attribute) or not (name := mirrored(place.attr)):
        return
    if not advances(to.function, name):
        slot = to.emit(Op.MIRROR, (to.peek(place), to.peek(place.value)), (name, place.attr))
        if to.listener is not None:
            to.listener.stores(place, slot)


@lowers(STATEMENTS, ast.Delete)
def _delete(to: Lowering, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            deleted = to.emit(Op.DELETE_ITEM, (to.evaluate(target.value), to.evaluate(target.slice)))
            if to.listener is not None:
                to.listener.stores(target, deleted)
        to.env.forget(to.path(target))


@lowers(TARGETS, ast.Name)
def _to_name(to: Lowering, target: ast.Name, slot: Slot) -> None:
    to.bind(target.id, to.named(slot, target.id), target)


@lowers(TARGETS, ast.Starred)
def _to_rest(to: Lowering, target: ast.Starred, slot: Slot) -> None:
    to.assign(target.value, slot)


@lowers(TARGETS, ast.Tuple, ast.List)
def _to_several(to: Lowering, target: ast.Tuple | ast.List, slot: Slot) -> None:
    star = next((place for place, item in enumerate(target.elts) if isinstance(item, ast.Starred)), None)
    count = len(target.elts)
    for position, item in enumerate(target.elts):
        op = Op.STARRED if position == star else Op.UNPACKED
        to.assign(item, to.once(op, (slot,), (position, count, star)))


@lowers(TARGETS, ast.Attribute)
def _to_attribute(to: Lowering, target: ast.Attribute, slot: Slot) -> None:
    base = to.evaluate(target.value)
    path = to.path(target)
    if path:
        to.bind_path(path, slot)
    before = to.unread.get(path)
    if before is not None and to.ir.operands[before][0] == base:
        to.replace(before)
    stored = to.emit_at(target, Op.STORE_ATTRIBUTE, (base, slot), (target.attr, path or target.attr, False))
    if path:
        to.unread[path] = stored


@lowers(TARGETS, ast.Subscript)
def _to_item(to: Lowering, target: ast.Subscript, slot: Slot) -> None:
    base = to.evaluate(target.value)
    index = to.evaluate(target.slice)
    operands = (base, index, slot)
    _bind_item(to, target, operands, to.emit(Op.STORE_ITEM, operands))
    _put(to, target, operands, None)


def _bind_item(to: Lowering, target: ast.Subscript, operands: tuple[Slot, ...], stored: Slot) -> None:
    """Bind the path of an item to what is read there after the store."""
    if to.listener is not None:
        to.listener.stores(target, stored)
    path = to.path(target)
    if path:
        to.bind_path(path, to.emit(Op.STORED, operands))


def _put(to: Lowering, target: ast.Subscript, operands: tuple[Slot, ...], operator: str | None) -> None:
    """Bind the path of a container to the container after a store; ``operator`` is that of an augmented one."""
    if to.path(target.value):
        mutate(to, target.value, to.emit(Op.PUT, operands, operator))
