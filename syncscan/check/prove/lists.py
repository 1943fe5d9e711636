"""Lists that are only filled and read where they have a name, and that nobody receives."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from syncscan.check.infer.source.syntax import NodesByType
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.promises import contradicted
from syncscan.check.prove.uses import blocks_of, filled_by, filled_list, read_in
from syncscan.check.prove.values import (
    TOP,
    AbstractValue,
    elements,
    join,
    join_all,
    kept_inside,
    kept_outside,
    list_of,
    may_hold_gpu,
    options_of,
    refine,
)
from syncscan.model import Kind

_MUTABLE = frozenset({Kind.LIST, Kind.SET, Kind.DICT})


def stays_inside(frame: WalkFrame, name: str) -> bool:
    """Return whether a function only reads its own stores from a container that no other function receives."""
    known = frame.prover.readers.get(frame.function)
    if known is None:
        known = frame.prover.readers[frame.function] = _only_read(frame.function.node)
    return name in known


def bound_value(frame: WalkFrame, target: ast.Name, value: AbstractValue) -> AbstractValue:
    """Return the value that a name has once it is bound: other functions may fill a container that they receive."""
    if frame.class_body is None:
        value = frame.prover.recorded.met_by_variable(frame.function, target, value)
    return kept_inside(value) if stays_inside(frame, target.id) else kept_outside(value)


def _only_read(function: ast.AST) -> frozenset[str]:
    """Return the names whose every use iterates, measures, reads an item, or fills a list in the function itself."""
    nodes, used = NodesByType(function), Counter[str]()
    for name in nodes.of(ast.Name):
        used[name.id] += isinstance(name.ctx, ast.Load)
    read = Counter(each.id for each in read_in(nodes) if isinstance(each, ast.Name))
    for node in _own_statements(function):
        filled = filled_by(node)
        read[filled.id if isinstance(filled, ast.Name) else ""] += 1
    return frozenset(name for name, count in used.items() if read[name] == count)


def _own_statements(function: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function outside nested functions and classes."""
    queue = list(blocks_of(function))
    while queue:
        for node in queue.pop():
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                queue += blocks_of(node)


def fills(frame: WalkFrame, call: ast.Call, rows: AbstractValue, item: AbstractValue) -> None:
    """Join an item that a call appends to those of such a list."""
    filled, item = filled_list(call), kept_outside(item)
    if rows.kind is not Kind.LIST:
        return
    if isinstance(filled, ast.Name) and stays_inside(frame, filled.id):
        _holds_against(frame, filled, rows, item)
        frame.bind(filled.id, list_of(item if rows.items == () else join(elements(rows), item)))
    elif isinstance(filled, ast.Name):
        widens(frame, filled, item)
    elif isinstance(filled, ast.Attribute):
        owner = frame.evaluate(filled.value)
        frame.walk.filled.setdefault(filled.attr, []).append((owner, list_of(item)))


def widens(frame: WalkFrame, holder: ast.expr, *items: AbstractValue) -> None:
    """Join items that are stored into a container with a name to the items of the container."""
    value = frame.env.get(holder.id) if isinstance(holder, ast.Name) else None
    if value is not None and any(option.kind in _MUTABLE for option in value.options):
        assert isinstance(holder, ast.Name)
        for item in items:
            _holds_against(frame, holder, value, item)
            value = join_all(_with_item(option, kept_outside(item)) for option in options_of(value))
        frame.bind(holder.id, value)


def _holds_against(frame: WalkFrame, holder: ast.expr, value: AbstractValue, item: AbstractValue) -> None:
    """Note a tensor that is stored into a container against the annotation, which other names of the container keep."""
    declared = [element for option in value.options if (element := _declared_items(option)) is not None]
    if may_hold_gpu(item) and any(contradicted(each, [item]) is not each for each in declared):
        reason = "it gets what may be a tensor on the GPU, against its annotation"
        frame.may(holder, None, reason, "annotate the container with what it holds")


def _declared_items(value: AbstractValue) -> AbstractValue | None:
    """Return what an annotation declares of the items of a container; None of other values."""
    return value.element if value.kind in _MUTABLE and kept_outside(value) is value else None


def _with_item(value: AbstractValue, item: AbstractValue) -> AbstractValue:
    """Return a container with an item more; what is declared of the items holds, but for a tensor against the declaration."""
    if value.kind not in _MUTABLE:
        return value
    declared = _declared_items(value)
    if declared is not None:
        return refine(value, element=contradicted(declared, [item]))
    inside = value.items if value.items is not None else (value.element or TOP,)
    return refine(kept_outside(value), element=join_all([*inside, item]))
