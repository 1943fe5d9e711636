"""The dotted name of an expression, and the names of a function: where the function reads, sets and changes each."""

from __future__ import annotations

import ast
from collections import defaultdict

# The expressions and statements with names of their own. A class has some too, but its methods do not see them.
SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault"})


class NamesIn:
    """The places of each name in a function, its nested functions included.

    ``changed`` holds the values whose methods such as `add_` and `append` the function calls.
    """

    def __init__(self, function: ast.AST) -> None:
        self.places: dict[str, list[ast.Name]] = defaultdict(list)
        self.assigned: dict[str, list[ast.Assign]] = defaultdict(list)
        self.changed: list[ast.expr] = []
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                self.places[node.id].append(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.assigned[target.id].append(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = node.func.attr
                if name in _CHANGES or (name.endswith("_") and not name.startswith("_")):
                    self.changed.append(node.func.value)


def dotted_name(node: ast.AST) -> str:
    """Return ``a.b.c`` for names and attributes of names, "" for everything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def names_bound_in(scope: ast.AST) -> frozenset[str]:
    """Return the names that a function or comprehension itself binds, parameters included, but none of its nested scopes."""
    bound, outer = set[str](), set[str]()
    queue = [*ast.iter_child_nodes(scope)]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        if not isinstance(node, (*SCOPES, ast.ClassDef)):
            queue += ast.iter_child_nodes(node)
    return frozenset(bound - outer)
