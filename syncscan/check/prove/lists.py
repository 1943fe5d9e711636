"""Lists that are only filled and read where they have a name, and that nobody receives: variables and attributes."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from syncscan.check.infer.source.index import Module
from syncscan.check.infer.source.syntax import dotted_name, last_name, walk
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.source import blocks_of, filled_by, filled_list
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
_READING_METHODS = frozenset({"clear", "copy", "count", "index", "pop", "remove", "reverse"})


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
        filled = filled_by(node)
        read[filled.id if isinstance(filled, ast.Name) else ""] += 1
    return frozenset(name for name, count in used.items() if read[name] == count)


class ListAttributes:
    """The attributes of a project whose every use assigns, fills or reads a list."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self._modules = modules
        self._others: frozenset[str] | None = None  # names with another use

    def has(self, name: str) -> bool:
        """Return whether no use of an attribute of some name hands its list to anybody."""
        if self._others is None:
            self._others = frozenset(each for module in self._modules for each in _other_uses(module))
        return name not in self._others


_QUOTED = re.compile(r"""["'](\w+)(?=["'])""")  # for `getattr`


def _other_uses(module: Module) -> Iterator[str]:
    """Yield the names of attributes that a module uses otherwise than to read or to fill a list."""
    yield from set(_QUOTED.findall(module.lines.text))
    uses = Counter[str]()  # without those that only read or fill
    for node in walk(module.tree):
        if isinstance(node, ast.Attribute):
            uses[node.attr] += isinstance(node.ctx, ast.Load)
        for each in _readers_of(node):
            if isinstance(each, ast.Attribute):
                uses[each.attr] -= 1
        filled = filled_by(node)
        if isinstance(filled, ast.Attribute):
            uses[filled.attr] -= 1
    yield from (name for name, count in uses.items() if count)


def _own_statements(function: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function outside nested functions and classes."""
    queue = list(blocks_of(function))
    while queue:
        for node in queue.pop():
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                queue += blocks_of(node)


def _readers_of(node: ast.AST) -> Sequence[ast.expr]:
    """Return the expressions that a node iterates over, measures or reads an item of."""
    readers = _READERS[type(node)]
    return readers(node) if readers is not None else ()


def _item(node: ast.Subscript) -> Sequence[ast.expr]:
    return [node.value] if isinstance(node.ctx, ast.Load) else ()


def _searched(node: ast.Compare) -> Sequence[ast.expr]:
    pairs = zip(node.ops, node.comparators, strict=True)
    return [right for operator, right in pairs if isinstance(operator, (ast.In, ast.NotIn))]


def _arguments(node: ast.Call) -> Sequence[ast.expr]:
    head = dotted_name(node.func)
    if head in _READS or head.startswith(("np.", "numpy.", "torch.")) or last_name(node.func) == "join":
        return [each.value if isinstance(each, ast.Starred) else each for each in node.args]
    if isinstance(node.func, ast.Attribute) and node.func.attr in _READING_METHODS:
        return [node.func.value]
    return ()


_BY_TYPE: tuple[tuple[tuple[type[ast.AST], ...], Callable[[Any], Sequence[ast.expr]]], ...] = (
    ((ast.For, ast.comprehension), lambda node: [node.iter]),
    ((ast.Subscript,), _item),
    ((ast.If, ast.While, ast.IfExp, ast.Assert), lambda node: [node.test]),
    ((ast.UnaryOp,), lambda node: [node.operand]),
    ((ast.Call,), _arguments),
    ((ast.Compare,), _searched),
)


class _Readers(dict[type[ast.AST], Callable[[Any], Sequence[ast.expr]] | None]):
    """The reading function of each exact node type; None for most types, whose nodes read nothing."""

    def __missing__(self, kind: type[ast.AST]) -> Callable[[Any], Sequence[ast.expr]] | None:
        self[kind] = next((reads for kinds, reads in _BY_TYPE if issubclass(kind, kinds)), None)
        return self[kind]


_READERS = _Readers()


def fills(frame: WalkFrame, call: ast.Call, rows: AbstractValue, item: AbstractValue) -> None:
    """Join an item that a call appends to those of such a list."""
    filled, item = filled_list(call), kept_outside(item)
    if rows.kind is not Kind.LIST:
        return
    if isinstance(filled, ast.Name) and stays_inside(frame, filled.id):
        frame.bind(filled.id, list_of(item if rows.items == () else join(elements(rows), item)))
    elif isinstance(filled, ast.Attribute):
        owner = frame.evaluate(filled.value)
        frame.walk.filled.setdefault(filled.attr, []).append((owner, list_of(item)))
