"""The statements around a statement: those before and behind, and the loops that repeat it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
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
    in_branch: bool = False  # of this function as well
    loop: tuple[ast.stmt, ...] = ()  # the body of the innermost of these
    behind: tuple[ast.stmt, ...] = ()  # in the body of that class
    again: tuple[
        ast.stmt, ...
    ] = ()  # if the body is a loop's: the loop, and the statements that it runs next up to here


class Blocks:
    """The statements of a file, found from the top down.

    The blocks around the last statement are stored: a chain of 4000 ``elif`` is as deep, and its statements come
    one after the other.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._around = [_Block(tree.body, in_loop=False)]  # the outermost first

    def place_of(self, statement: ast.stmt) -> Place:
        """Find a statement in the file."""
        around = self._around
        while len(around) > 1 and around[-1].index_of(statement) is None:
            around.pop()
        while True:
            block = around[-1]
            index = block.index_of(statement)
            if index is None:
                return Place()  # no statement of its own, such as a decorator
            found = block.body[index]
            if _start(found) == _start(statement):
                before = block.body[index - 1] if index else None
                behind = tuple(block.body[index + 1 :])
                again = (block.loops, *block.body[: index + 1]) if block.loops is not None else ()
                after = behind[0] if behind else None
                return Place(before, after, block.in_loop, block.in_branch, block.loop, behind, again)
            inner = next((each for each in block.inside(found) if each.index_of(statement) is not None), None)
            if inner is None:
                return Place()
            around.append(inner)


@dataclass(frozen=True, slots=True)
class _Block:
    """A body, and the loops and branches around it in its function."""

    body: Sequence[ast.stmt]
    in_loop: bool
    in_branch: bool = False
    loop: tuple[ast.stmt, ...] = ()
    loops: ast.stmt | None = None  # the loop that has this body

    def inside(self, statement: ast.stmt) -> Iterator[_Block]:
        """Yield the blocks of a statement of this body."""
        is_function = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
        is_main = isinstance(statement, ast.If) and any(
            isinstance(each, ast.Name) and each.id == "__name__" for each in walk(statement.test)
        )
        in_branch = self.in_branch or (isinstance(statement, (ast.If, ast.Match)) and not is_main)
        for body in filter(None, blocks_of(statement)):
            if is_function:
                yield _Block(body, in_loop=False)
            elif isinstance(statement, _LOOPS) and body is statement.body:
                repeats = None if isinstance(statement, ast.AsyncFor) else statement
                yield _Block(body, in_loop=True, in_branch=in_branch, loop=tuple(body), loops=repeats)
            else:
                yield _Block(body, self.in_loop, in_branch, self.loop)

    def index_of(self, statement: ast.stmt) -> int | None:
        """Return the index of the statement of this body that is or holds a statement."""
        index = bisect_right(self.body, _start(statement), key=_start) - 1
        return index if index >= 0 and _start(statement) < _end(self.body[index]) else None


_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def bound_in(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names and attributes that some statements set, or set a part of."""
    bound: set[str] = set()
    for node in chain.from_iterable(map(walk, body)):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            bound.add(path_of(node.value if isinstance(node, ast.Subscript) else node))
    return bound


def _start(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.col_offset


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or 0, statement.end_col_offset or 0
