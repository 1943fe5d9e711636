"""Source ranges in place of syntax nodes, so that a node can be named in one run and found in the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from syncscan.check.infer.kept.names import Data
from syncscan.check.infer.kept.reading import NotKeptError
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import decorators_of, walk


class Spot(NamedTuple):
    """The type and source range of a node in a file that is not parsed, enough to locate a finding."""

    sort: str
    lineno: int
    col_offset: int = 0
    end_lineno: int = 0
    end_col_offset: int = 0

    @classmethod
    def of(cls, node: ast.AST | Spot) -> Spot:
        """Return the spot of a node; a node without a range, such as a module, is on line 1."""
        if isinstance(node, cls):
            return node
        if isinstance(node, (ast.expr, ast.stmt)):
            place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            return cls(type(node).__name__, *place)
        return cls(type(node).__name__, getattr(node, "lineno", 1))

    def data(self) -> Data:
        """Return the spot as data."""
        return [self.sort, self.lineno, self.col_offset, self.end_lineno, self.end_col_offset]

    def statement_in(self, tree: ast.AST) -> Any:
        """Return the only statement of a definition at this spot; raise NotKeptError if there is none, or more than one."""
        return _only(self, [node for node in _statements(tree) if Spot.of(node) == self])


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield a statement and all statements inside it."""
    queue: list[Any] = [tree]
    while queue:
        node = queue.pop()
        yield node
        yield from decorators_of(node)
        for block in blocks_of(node):
            queue += block


class Trees:
    """The nodes of parsed files by their current spots; for other files, the spots themselves."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        """Index the trees of the parsed files, given by path."""
        self._nodes: dict[str, dict[Spot, list[ast.AST]]] = {}
        for path, tree in trees.items():
            nodes = self._nodes[path] = {}
            for node in walk(tree):
                nodes.setdefault(Spot.of(node), []).append(node)

    def node(self, path: str, data: Data) -> Any:
        """Return the only node at a spot; raise NotKeptError if there is none, or more than one."""
        spot = Spot(*data)
        return _only(spot, self._nodes[path].get(spot, [])) if path in self._nodes else spot


def _only(spot: Spot, nodes: Sequence[ast.AST]) -> ast.AST:
    if len(nodes) != 1:
        raise NotKeptError(f"line {spot.lineno}: no node, or several")
    return nodes[0]
