"""Queries about syntax nodes that need no context."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)

# What a node holds that is no expression and no statement, nor holds any.
PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "name", "names",
     "op", "ops", "rest", "simple", "str", "tag", "type_comment", "type_ignores"}
)  # fmt: skip


class _Inside(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each node type that hold other nodes."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        is_literal = issubclass(kind, (ast.Constant, ast.MatchSingleton))
        fields = () if is_literal else tuple(name for name in kind._fields if name not in PLAIN)
        self[kind] = fields
        return fields


_INSIDE = _Inside()


def inside(node: ast.AST) -> list[ast.AST]:
    """Return the direct child nodes in order, without operators and names."""
    found: list[ast.AST] = []
    for name in _INSIDE[type(node)]:
        held = getattr(node, name)
        if type(held) is list:
            found += filter(None, held)
        elif held is not None:
            found.append(held)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """Return a node and its descendants in breadth-first order: a fast `ast.walk`, without operators and contexts."""
    found = [node]
    for each in found:  # which grows meanwhile
        for name in _INSIDE[type(each)]:
            held = getattr(each, name)
            if type(held) is list:
                found += filter(None, held)
            elif held is not None:
                found.append(held)
    return found


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes and their descendants outside nested functions and classes, in no order."""
    queue = [*nodes]
    while queue:
        each = queue.pop()
        yield each
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            queue += inside(each)


class NodesByType:
    """The nodes of a tree, without operators and contexts, by their types: for several searches in one walk."""

    def __init__(self, tree: ast.AST) -> None:
        self._found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in walk(tree):
            self._found.setdefault(type(node), []).append(node)

    def of(self, *kinds: type[Node]) -> Iterator[Node]:
        """Yield the nodes of some types, one type after the other."""
        for kind, found in self._found.items():
            if issubclass(kind, kinds):
                yield from cast("list[Node]", found)


def is_none(node: ast.expr) -> bool:
    """Return whether an expression is a literal None."""
    return isinstance(node, ast.Constant) and node.value is None


def path_of(node: ast.AST) -> str:
    """Return the path of an expression such as ``self.x`` or ``d["k"]``, or ""; equal paths denote the same object."""
    return node.id if isinstance(node, ast.Name) else path_from(node, path_of)


def path_from(node: ast.AST, of: Callable[[ast.expr], str]) -> str:
    """Return the path of an attribute or of an item, where ``of`` returns the path of what that is taken from."""
    if isinstance(node, ast.Attribute):
        base = of(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = of(node.value)
        return f"{base}[{node.slice.value!r}]" if base else ""
    return ""


def last_name(node: ast.AST) -> str:
    """Return the last part of a path: "is_available" for ``torch.cuda.is_available``."""
    if isinstance(node, ast.Attribute):
        return node.attr if path_of(node) else ""
    return path_of(node).rpartition(".")[2]


def decorators_of(node: ast.AST) -> list[ast.stmt]:
    """Return the decorators of a definition as expression statements, which run before the definition."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return [ast.copy_location(ast.Expr(decorator), decorator) for decorator in decorators]
