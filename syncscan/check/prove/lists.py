"""Lists that are only filled and read where they have a name, and that nobody receives: variables and attributes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

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
        self._uses: dict[
            Module, tuple[Counter[str], Counter[str]]
        ] = {}  # and those of them that only read or fill
        self._known: dict[str, bool] = {}

    def has(self, name: str) -> bool:
        """Return whether no use of an attribute of some name hands its list to anybody."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = all(self._keeps(module, name) for module in self._modules)
        return known

    def _keeps(self, module: Module, name: str) -> bool:
        text = module.lines.text
        if name not in text:
            return True
        if f'"{name}"' in text or f"'{name}'" in text:  # for `getattr`
            return False
        if module not in self._uses:
            self._uses[module] = _uses_of_attributes(module.tree)
        used, read = self._uses[module]
        return used[name] == read[name]


def _uses_of_attributes(tree: ast.AST) -> tuple[Counter[str], Counter[str]]:
    """Return how often each attribute is read, and how often only to read or to fill a list."""
    used, read = Counter[str](), Counter[str]()
    for node in walk(tree):
        if isinstance(node, ast.Attribute):
            used[node.attr] += isinstance(node.ctx, ast.Load)
        filled = filled_by(node)
        for each in [*_readers_of(node), *([filled] if filled is not None else [])]:
            if isinstance(each, ast.Attribute):
                read[each.attr] += 1
    return used, read


def _own_statements(function: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function, not those of functions and classes in it."""
    queue = list(blocks_of(function))
    while queue:
        for node in queue.pop():
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                queue += blocks_of(node)


def _readers_of(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that a node iterates over, measures or reads an item of."""
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.iter]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return [node.value]
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return [node.test]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call):
        head = dotted_name(node.func)
        if head in _READS or head.startswith(("np.", "numpy.", "torch.")) or last_name(node.func) == "join":
            return [each.value if isinstance(each, ast.Starred) else each for each in node.args]
        if isinstance(node.func, ast.Attribute) and node.func.attr in _READING_METHODS:
            return [node.func.value]
    return []


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
