"""The statements around a statement: those before and behind, and the loops that repeat it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import path_of, walk


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a statement in a file."""

    before: ast.stmt | None = None
    after: ast.stmt | None = None
    in_loop: bool = False  # of the function in which it stands
    loop: tuple[ast.stmt, ...] = ()  # the body of the innermost of these
    behind: tuple[ast.stmt, ...] = ()  # in the body of that class
    again: tuple[
        ast.stmt, ...
    ] = ()  # if the body is a loop's: the loop, and the statements that it runs next up to here


def place_of(statement: ast.stmt, tree: ast.Module) -> Place:
    """Find a statement in its file, from the top down."""
    body: Sequence[ast.stmt] = tree.body
    in_loop = False
    loop: tuple[ast.stmt, ...] = ()
    again: tuple[ast.stmt, ...] = ()  # the loop of which this is the body, and its body
    while True:
        index = _index_in(body, statement)
        if index is None:
            return Place()  # no statement of its own, such as a decorator
        around = body[index]
        if _start(around) == _start(statement):
            before = body[index - 1] if index else None
            behind = tuple(body[index + 1 :])
            return Place(before, behind[0] if behind else None, in_loop, loop, behind, again[: index + 2])
        inner = next(
            (block for block in blocks_of(around) if _index_in(block, statement) is not None),
            None,
        )
        if inner is None:
            return Place()
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            in_loop, loop = False, ()
        elif isinstance(around, (ast.For, ast.AsyncFor, ast.While)) and inner is around.body:
            in_loop, loop = True, tuple(inner)
        loops = isinstance(around, (ast.For, ast.While)) and inner is around.body
        again = (around, *inner) if loops else ()
        body = inner


def bound_in(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names and attributes that some statements set, or set a part of."""
    bound: set[str] = set()
    for node in chain.from_iterable(map(walk, body)):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            bound.add(path_of(node.value if isinstance(node, ast.Subscript) else node))
    return bound


def _index_in(body: Sequence[ast.stmt], statement: ast.stmt) -> int | None:
    """Return the index of the statement of a body that is or holds a statement."""
    index = bisect_right(body, _start(statement), key=_start) - 1
    return index if index >= 0 and _start(statement) < _end(body[index]) else None


def _start(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.col_offset


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or 0, statement.end_col_offset or 0
