"""The subscripts in which a statement stores: targets of assignments and loops, also within tuples."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

Store: TypeAlias = tuple[ast.Subscript, ast.expr | None]


def stores_in(node: ast.AST) -> Iterator[Store]:
    """Yield each subscript in which an assignment or the head of a loop stores, with the expression of the stored value.

    The expression is None where the value is an element of another: of what is unpacked, or of what a loop is over.
    """
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _in_target(target, node.value)
    elif isinstance(node, ast.For):
        yield from _in_target(node.target, None)


def _in_target(target: ast.expr, value: ast.expr | None) -> Iterator[Store]:
    if isinstance(target, ast.Subscript):
        yield target, value
    elif isinstance(target, ast.Starred):
        yield from _in_target(target.value, None)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for place, each in enumerate(target.elts):
            yield from _in_target(each, _item_for(place, target, value))


def _item_for(place: int, target: ast.Tuple | ast.List, value: ast.expr | None) -> ast.expr | None:
    """Return the expression for the target at a place, where the values are written out one by one."""
    values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    has_star = any(isinstance(each, ast.Starred) for each in (*target.elts, *values))
    return values[place] if len(values) == len(target.elts) and not has_star else None
