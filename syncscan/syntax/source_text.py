"""The source text of syntax nodes: ranges in characters, and text with the parentheses around a node."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter

from syncscan.syntax.fstrings import Spot, fields_in

Range = tuple[
    int, int, int, int
]  # line, column, end line and end column: 1-based, in characters, the end exclusive

_STATEMENTS = (ast.stmt, ast.match_case, ast.excepthandler)
_NEVER_IN_PARENTHESES = (ast.Starred, ast.Slice, ast.FormattedValue)
_HEAD_END = re.compile(r"(?:[^:#]|#.*)*:")
_CODE = re.compile(r"""(?:[^#'"]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")*""")  # a line without its comment


_BROKEN_BRACKETS = re.compile(r"(?<=[(\[{])\s*\n\s*|,?\s*\n\s*(?=[)\]}])")  # line breaks inside brackets


def on_one_line(text: str, most: int) -> str:
    """Return an expression on one line, without its comments, cut where it is longer than ``most`` characters."""
    code = "\n".join([_CODE.match(line)[0] for line in text.split("\n")])  # type: ignore[index]  # it matches every line
    joined = " ".join(_BROKEN_BRACKETS.sub("", code).split())
    return joined if len(joined) <= most else f"{joined[: most - 3]}..."


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def nodes_of(root: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and its descendants; for a compound statement, only those of its head."""
    queue = [root]
    while queue:
        node = queue.pop()
        yield node
        queue += inside_of(node)


def inside_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the direct children of a node that are not statements."""
    return (each for each in ast.iter_child_nodes(node) if not isinstance(each, _STATEMENTS))


def holds_statements(node: ast.AST) -> bool:
    """Return whether a node has statements as direct children."""
    return any(isinstance(each, _STATEMENTS) for each in ast.iter_child_nodes(node))


class SourceText:
    """The source text of the nodes of a file; ``parent`` returns the parent of a node.

    As in `ast`, the range of a node excludes the parentheses around the node. The text of a node includes
    them.
    """

    def __init__(self, lines: Sequence[str], parent: Callable[[ast.AST], ast.AST | None]) -> None:
        self._lines = lines
        self._parent = parent
        self._fields: dict[int, dict[int, tuple[Spot, Spot, Spot]]] = {}

    def range_of(self, node: ast.AST) -> Range:
        """Return the range of a node; for a compound statement, that of its head."""
        start, end = self._span(node)
        return start[0], start[1] + 1, end[0], end[1] + 1

    def text_of(self, node: ast.AST) -> str:
        """Return the text of a node with the parentheses around it."""
        return self._cut(*self._whole(node))

    def bare_text_of(self, node: ast.AST) -> str:
        """Return the text of a node without the parentheses around it."""
        return self._cut(*self._span(node))

    def edited(self, node: ast.AST, edits: Mapping[ast.AST, str]) -> str:
        """Return the text of a node without the parentheses around it, with the nodes in ``edits`` replaced.

        An edit of a node inside another replaced node has no effect.
        """
        at, end = self._span(node)
        pieces = []
        replaced = [(*self._whole(inner), text) for inner, text in edits.items()]
        replaced.sort(key=itemgetter(1), reverse=True)
        for start, stop, text in sorted(
            replaced, key=itemgetter(0)
        ):  # the longest first where several begin at one place
            if at <= start and stop <= end:  # else the node is inside another replaced node, or outside
                pieces += [self._cut(at, start), text]
                at = stop
        return "".join([*pieces, self._cut(at, end)])

    def _span(self, node: ast.AST) -> tuple[Spot, Spot]:
        """Return the begin and the end of a node; lines count from 1, columns from 0."""
        if isinstance(node, ast.stmt) and holds_statements(node):
            return self._head(node)
        string = self._string_around(node) if sys.version_info < (3, 12) else None
        if string is not None:
            return self._span_in(string, node)
        return self._ends(*_bytes_of(node))

    def _head(self, node: ast.stmt) -> tuple[Spot, Spot]:
        start = self._spot(node.lineno, node.col_offset)
        inside = [
            self._span(each)[1] for each in nodes_of(node) if each is not node and hasattr(each, "lineno")
        ]
        line, column = max(inside, default=start)
        rest = "\n".join([self._lines[line - 1][column:], *self._lines[line : line + 100]])
        found = _HEAD_END.match(rest)
        skipped = found[0].split("\n") if found is not None else [""]
        return start, (line + len(skipped) - 1, len(skipped[-1]) + (column if len(skipped) == 1 else 0))

    # Parentheses

    def _whole(self, node: ast.AST) -> tuple[Spot, Spot]:
        """Return the begin and the end of a node with its own parentheses."""
        start, end = self._span(node)
        if not isinstance(node, ast.expr) or isinstance(node, _NEVER_IN_PARENTHESES):
            return start, end
        closings = list(self._closings(*end))
        openings = list(self._openings(*start)) if closings else []
        if openings and _is_first_argument(node, self._parent(node)):
            del openings[-1]  # the parenthesis of the call
        own = min(len(openings), len(closings))
        return (openings[own - 1], closings[own - 1]) if own else (start, end)

    def _closings(self, line: int, column: int) -> Iterator[Spot]:
        """Yield the ends of the closing parentheses after a position."""
        for number in range(line, len(self._lines) + 1):
            text = self._lines[number - 1]
            for index in range(column if number == line else 0, len(text)):
                if text[index] == ")":
                    yield number, index + 1
                elif text[index] == "#":
                    break
                elif text[index] not in " \t\f\\":
                    return

    def _openings(self, line: int, column: int) -> Iterator[Spot]:
        """Yield the opening parentheses before a position, the nearest first."""
        before = ((number, _code_in(self._lines[number - 1])) for number in range(line - 1, 0, -1))
        for number, text in chain([(line, self._lines[line - 1][:column])], before):
            for index in range(len(text) - 1, -1, -1):
                if text[index] == "(":
                    yield number, index
                elif text[index] not in " \t\f\\":
                    return

    # f-strings: before Python 3.12, `ast` gives no source ranges inside

    def _string_around(self, node: ast.AST) -> ast.JoinedStr | None:
        """Return the outermost f-string that contains a node, or None."""
        found = None
        around = self._parent(node)
        while around is not None and not isinstance(around, ast.stmt):
            found = around if isinstance(around, ast.JoinedStr) else found
            around = self._parent(around)
        return found

    def _span_in(self, string: ast.JoinedStr, node: ast.AST) -> tuple[Spot, Spot]:
        if id(string) not in self._fields:
            self._fields[id(string)] = self._fields_of(string)
        position = _bytes_of(node)
        around: ast.AST | None = node
        while around is not None and not isinstance(around, ast.FormattedValue):
            around = self._parent(around)
        if around is None or id(around) not in self._fields[id(string)]:
            return self._ends(*position)
        start, end, value = self._fields[id(string)][id(around)]
        if around is node:
            return start, end
        line, column = around.value.lineno, around.value.col_offset
        down, right = value[0] - line, len(self._lines[value[0] - 1][: value[1]].encode()) - column
        first, last = position[0], position[2]
        return self._ends(
            first + down,
            position[1] + (right if first == line else 0),
            last + down,
            position[3] + (right if last == line else 0),
        )

    def _fields_of(self, string: ast.JoinedStr) -> dict[int, tuple[Spot, Spot, Spot]]:
        (line, column), _ = span = self._ends(*_bytes_of(string))
        values = [each for each in _in_order(string) if isinstance(each, ast.FormattedValue)]
        fields = fields_in(self._cut(*span))
        if len(fields) != len(values):
            return {}

        def placed(spot: Spot) -> Spot:
            return line + spot[0], spot[1] + (column if spot[0] == 0 else 0)

        return {
            id(value): (placed(a), placed(b), placed(c))
            for value, (a, b, c) in zip(values, fields, strict=True)
        }

    # Lines and columns

    def _ends(self, line: int, column: int, end_line: int, end_column: int) -> tuple[Spot, Spot]:
        return self._spot(line, column), self._spot(end_line, end_column)

    def _spot(self, line: int, column: int) -> Spot:
        """Return the line and column in characters for a column in bytes."""
        text = self._lines[line - 1]
        return line, column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))

    def _cut(self, start: Spot, end: Spot) -> str:
        (line, column), (end_line, end_column) = start, end
        if line == end_line:
            return self._lines[line - 1][column:end_column]
        first, last = self._lines[line - 1][column:], self._lines[end_line - 1][:end_column]
        return "\n".join([first, *self._lines[line : end_line - 1], last])


def _is_first_argument(node: ast.AST, around: ast.AST | None) -> bool:
    """Return whether the opening parenthesis before a node belongs to its parent, a call or a class statement."""
    if isinstance(around, ast.Call):
        return node in around.args[:1]
    return isinstance(around, ast.ClassDef) and node in around.bases[:1]


def _bytes_of(node: ast.AST) -> Range:
    """Return the range of a node, or of its contents where `ast` gives none; lines from 1, columns in bytes from 0."""
    if hasattr(node, "lineno"):
        return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0  # type: ignore[attr-defined]
    inside = [_bytes_of(each) for each in nodes_of(node) if hasattr(each, "lineno")]
    return (*min(each[:2] for each in inside), *max(each[2:] for each in inside))


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def _code_in(line: str) -> str:
    found = _CODE.match(line) if "#" in line else None
    return found[0] if found is not None else line
