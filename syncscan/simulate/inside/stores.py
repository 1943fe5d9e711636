"""The parameters through which a Triton kernel writes, according to its source."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any


def written(function: Any, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments of a launch that the kernel writes; writes in functions that the kernel calls are not found."""
    names = _written_parameters(function)
    try:
        position = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
    given = {**dict(zip(position, args)), **kwargs}
    return [value for name, value in given.items() if name in names]


@functools.cache
def _written_parameters(function: Any) -> frozenset[str]:
    """Return the names in the addresses of ``tl.store`` and atomic operations, and the names they derive from."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return frozenset()
    made_of: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in _names(target):
                    made_of.setdefault(name, set()).update(_names(node.value))
    found: set[str] = set()
    left = {name for address in _addresses(tree) for name in _names(address)}
    while left:
        found |= left
        left = set().union(*(made_of.get(name, set()) for name in left)) - found
    return frozenset(found)


def _addresses(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            name = node.func.attr
            if name == "store" or name.startswith("atomic_"):
                yield node.args[0]


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names of which an address is made; what is loaded is data, such as the index of a row."""
    if isinstance(node, ast.Name):
        yield node.id
    elif not _is_load(node):
        for part in ast.iter_child_nodes(node):
            yield from _names(part)


def _is_load(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "load"
