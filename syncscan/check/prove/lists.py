"""Lists that one function makes, fills and reads, and that no other function receives."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from syncscan.check.infer.source.syntax import dotted_name, last_name, walk
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.source import blocks_of
from syncscan.check.prove.values import AbstractValue, elements, join, kept_outside, list_of
from syncscan.model import Kind

_READS = frozenset(
    {
        "len",
        "sum",
        "min",
        "max",
        "sorted",
        "any",
        "all",
        "zip",
        "enumerate",
        "reversed",
        "tuple",
        "list",
        "map",
    }
)


def stays_inside(frame: WalkFrame, name: str) -> bool:
    """Return whether a function only reads its own stores from a container that no other function receives."""
    known = frame.prover.readers.get(frame.function)
    if known is None:
        known = frame.prover.readers[frame.function] = _only_read(frame.function.node)
    return name in known


def _only_read(function: ast.AST) -> frozenset[str]:
    """Return the names whose every use iterates, measures, reads an item, or fills a list in the function itself."""
    read, used = Counter[str](), Counter[str]()
    for node in walk(function):
        if isinstance(node, ast.Name):
            used[node.id] += isinstance(node.ctx, ast.Load)
            continue
        for each in _readers_of(node):
            if isinstance(each, ast.Name):
                read[each.id] += 1
    for node in _own_statements(function):
        read[_filled_by(node)] += 1
    return frozenset(name for name, count in used.items() if read[name] == count)


def _own_statements(function: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function, not those of functions and classes in it."""
    queue = list(blocks_of(function))
    while queue:
        for node in queue.pop():
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                queue += blocks_of(node)


def _filled_by(node: ast.stmt) -> str:
    """Return the name of the list that a statement appends an item to, or ""."""
    call = node.value if isinstance(node, ast.Expr) else None
    return _name_filled(call) if isinstance(call, ast.Call) else ""


def _name_filled(call: ast.Call) -> str:
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "append" or len(call.args) != 1:
        return ""
    return function.value.id if isinstance(function.value, ast.Name) else ""


def _readers_of(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that a node iterates over, measures or reads an item of."""
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.iter]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return [node.value]
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call):
        head = dotted_name(node.func)
        if head in _READS or head.startswith(("np.", "numpy.", "torch.")) or last_name(node.func) == "join":
            return [each.value if isinstance(each, ast.Starred) else each for each in node.args]
    return []


def fills(frame: WalkFrame, call: ast.Call, rows: AbstractValue, item: AbstractValue) -> None:
    """Join an item that a call appends to those of such a list."""
    name = _name_filled(call)
    if name and rows.kind is Kind.LIST and stays_inside(frame, name):
        item = kept_outside(item)
        frame.bind(name, list_of(item if rows.items == () else join(elements(rows), item)))
