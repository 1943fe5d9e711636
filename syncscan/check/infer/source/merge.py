"""Module diff: merge the new syntax tree of an edited file into the old one, so that unchanged nodes survive.

Facts and evidence that refer to a surviving node stay valid, and the node has its new lines.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from syncscan.syntax.source_text import first_line

_BLOCKS = frozenset({"body", "orelse", "finalbody"})
_PARTS = frozenset({"handlers", "cases"})  # that hold blocks
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class Moved(NamedTuple):
    """Lines of the old file, from ``first`` to ``last``, that the new file has ``down`` lines below."""

    first: int
    last: int
    down: int


@dataclass(slots=True)
class Merged:
    """The differences: changed functions and modules, definitions with another head, and dropped nodes.

    ``moved`` has the lines of statements, and of heads of statements, with the same text.
    """

    changed: dict[ast.AST, None] = field(default_factory=dict)
    heads: dict[ast.AST, None] = field(default_factory=dict)
    dropped: list[ast.AST] = field(default_factory=list)  # what is no part of the tree any more
    moved: list[Moved] = field(default_factory=list)


def merge(old: ast.Module, new: ast.Module, old_lines: Sequence[str], new_lines: Sequence[str]) -> Merged:
    """Merge the new tree into the old one, which then represents the new file."""
    merging = _Merging(old_lines, new_lines)
    old.body = merging.block(old.body, new.body, old)
    return merging.merged


def renew(tree: ast.Module, new: Mapping[ast.AST, ast.stmt], merged: Merged) -> None:
    """Replace statements of a merged tree by new nodes, and record the old ones as dropped."""
    queue: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    for node, owner in queue:
        for name in _BLOCKS.intersection(node._fields):
            block = getattr(node, name)
            for place, each in enumerate(block):
                if each in new:
                    block[place] = new[each]
                    merged.changed[owner] = None
                    merged.dropped.append(each)
                else:
                    queue.append((each, each if isinstance(each, _FUNCTIONS) else owner))
        queue += ((part, owner) for name in _PARTS.intersection(node._fields) for part in getattr(node, name))


class _Merging:
    def __init__(self, old_lines: Sequence[str], new_lines: Sequence[str]) -> None:
        self.merged = Merged()
        self._old_lines = old_lines
        self._new_lines = new_lines

    def block(self, old: list[ast.stmt], new: list[ast.stmt], owner: ast.AST) -> list[ast.stmt]:
        """Merge a block of statements, which ``owner`` runs."""
        before = [_text(node, self._old_lines) for node in old]
        after = [_text(node, self._new_lines) for node in new]
        result: list[ast.stmt] = []
        for what, i, i_end, j, j_end in _matching(before, after):
            if what == "equal":
                for kept, now in zip(old[i:i_end], new[j:j_end], strict=True):
                    down = now.lineno - kept.lineno
                    self.merged.moved.append(Moved(first_line(kept), kept.end_lineno or 0, down))
                    _shift(kept, down)
                result += old[i:i_end]
            else:
                result += self._replaced(old[i:i_end], new[j:j_end], owner)
        return result

    def _replaced(self, old: list[ast.stmt], new: list[ast.stmt], owner: ast.AST) -> list[ast.stmt]:
        """Merge differing statements: nodes that match by type and name stay, with their new contents."""
        result: list[ast.stmt] = []
        for what, i, i_end, j, j_end in _matching([*map(_sort, old)], [*map(_sort, new)]):
            if what == "equal":
                for like, now in zip(old[i:i_end], new[j:j_end], strict=True):
                    self._node(like, now, owner)
                result += old[i:i_end]
            else:
                result += new[j:j_end]
                self.merged.changed[owner] = None
                self.merged.dropped += old[i:i_end]
        return result

    def _note_head(self, old: ast.AST, new: ast.AST) -> None:
        """Note where the head of a compound node has moved, if its text is the same."""
        before, now = _head(old), _head(new)
        if [*self._old_lines[before]] == [*self._new_lines[now]]:
            self.merged.moved.append(Moved(before.start + 1, before.stop, now.start - before.start))

    def _node(self, old: ast.AST, new: ast.AST, owner: ast.AST) -> None:
        """Merge a compound node."""
        if hasattr(old, "lineno"):
            self._note_head(old, new)
        is_definition = isinstance(old, _DEFINITIONS)
        runs = old if isinstance(old, _FUNCTIONS) else owner
        for name in old._fields:
            before, after = getattr(old, name), getattr(new, name)
            if name in _BLOCKS:
                setattr(old, name, self.block(before, after, runs))
            elif name in _PARTS and len(before) == len(after):
                for part, now in zip(before, after, strict=True):
                    self._node(part, now, owner)
            elif _dump(before) == _dump(after):
                for part, now in zip(_nodes(before), _nodes(after), strict=True):
                    _move(part, now)
            else:
                setattr(old, name, after)
                self.merged.changed[owner] = None
                self.merged.dropped += _nodes(before)
                if is_definition:
                    self.merged.heads[old] = None
        _place(old, new)


def _matching(before: list[str], after: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Return the equal and differing ranges of two sequences, in the form of `difflib`."""
    if before == after:
        return [("equal", 0, len(before), 0, len(after))]
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle = SequenceMatcher(
        None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False
    )
    inside = [(what, *(place + start for place in places)) for what, *places in middle.get_opcodes()]
    return [
        ("equal", 0, start, 0, start),
        *inside,  # type: ignore[list-item]
        ("equal", len(before) - end, len(before), len(after) - end, len(after)),
    ]


def _sort(node: ast.stmt) -> str:
    """Return the key by which compound statements match: type and name. Simple statements match nothing."""
    return f"{type(node).__name__} {getattr(node, 'name', '')}" if hasattr(node, "body") else str(id(node))


def _text(node: ast.stmt, lines: Sequence[str]) -> str:
    """Return the source of a statement with its decorators and indentation."""
    first = first_line(node)
    last = node.end_lineno or node.lineno
    text = [*lines[first - 1 : last]]
    text[-1] = text[-1].encode()[: node.end_col_offset].decode(errors="replace")
    if first == node.lineno:
        text[0] = text[0].encode()[node.col_offset :].decode(errors="replace")
    return f"{node.col_offset}:" + "\n".join(text)


def _head(node: Any) -> slice:
    """Return the lines of a compound node above its body, at least one."""
    first = first_line(node)
    return slice(first - 1, max(first, first_line(node.body[0]) - 1))


def _dump(part: object) -> object:
    if isinstance(part, list):
        return [_dump(each) for each in part]
    return ast.dump(part) if isinstance(part, ast.AST) else part


def _nodes(part: object) -> list[ast.AST]:
    parts = part if isinstance(part, list) else [part]
    return [each for each in parts if isinstance(each, ast.AST)]


def _move(old: ast.AST, new: ast.AST) -> None:
    """Copy the positions of an equal node and its descendants."""
    for kept, now in zip(ast.walk(old), ast.walk(new), strict=True):
        _place(kept, now)


def _shift(node: ast.stmt, down: int) -> None:
    """Move a statement of the same text, in which all has moved as far."""
    queue: list[Any] = [node] if down else []
    while queue:
        moved = queue.pop()
        for name in moved._fields:
            value = getattr(moved, name, None)
            if isinstance(value, ast.AST):
                queue.append(value)
            elif isinstance(value, list):
                queue += [each for each in value if isinstance(each, ast.AST)]
        if "lineno" in moved._attributes:
            moved.lineno += down
            moved.end_lineno += down


def _place(old: ast.AST, new: ast.AST) -> None:
    for name in _POSITIONS:
        if hasattr(new, name):
            setattr(old, name, getattr(new, name))
