"""Compact syntax trees, half the size of those of `ast`, because the trees of a whole project stay in memory.

CPython stores the attributes of a node in a dictionary. Here each node type has a subtype with slots for the
same fields and positions. Readers that use `isinstance` and field names work unchanged. Readers that compare
exact types use `types_of`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from syncscan.check.infer.source.syntax import PLAIN
from syncscan.check.nesting import parse

_Copy = Callable[[Any], Any]


def tree_of(text: str) -> ast.Module:
    """Return the compact syntax tree of a source text; raises the same errors as `parse`."""
    tree = parse(text)
    copy = _COPIES[ast.Module]
    assert copy is not None
    try:
        copied: ast.Module = copy(tree)
    except RecursionError:  # deeper than anybody writes: it stays, and the parts that were done in it
        return tree
    return copied


def types_of(*kinds: type[ast.AST]) -> frozenset[type[ast.AST]]:
    """Return the exact types of some node kinds: those of `ast` and the compact ones."""
    return frozenset(each for kind in kinds for each in (kind, _SLOTTED[kind]))


_WITH_PATHS = (ast.Attribute, ast.Subscript)  # which get a slot for what `path_of` says of them


class _Slotted(dict[type[ast.AST], type[ast.AST]]):
    """The compact type of each node type."""

    def __missing__(self, kind: type[ast.AST]) -> type[ast.AST]:
        names = (*kind._fields, *kind._attributes, *(("path",) if kind in _WITH_PATHS else ()))
        slotted = self[kind] = type(
            kind.__name__, (kind,), {"__slots__": names, "__module__": __name__, "__init__": object.__init__}
        )
        return slotted


class _Copies(dict[type[Any], _Copy | None]):
    """The copying function of each node type; None for types that are no nodes."""

    def __missing__(self, kind: type[Any]) -> _Copy | None:
        copy = self[kind] = _copy_of(kind) if issubclass(kind, ast.AST) else None
        return copy


class _Numbers(dict[int, int]):
    """One int object for each line number; the parser makes one for each node."""

    def __missing__(self, number: int) -> int:
        self[number] = number
        return number


_SLOTTED = _Slotted()
_COPIES = _Copies()
_NUMBERS = _Numbers()
_EMPTY: list[Any] = []  # more than a third of all lists are; nobody adds to a list of a tree

_NO_NODES = PLAIN - {"names"}  # those of an import are nodes

_PART = """\
    part = node.{name}
    if type(part) is list:
        if not part:
            part = empty
        for place, each in enumerate(part):
            copy = copies[type(each)]
            if copy is not None:
                part[place] = copy(each)
    else:
        copy = copies[type(part)]
        if copy is not None:
            part = copy(part)
    slotted.{name} = part
"""


def _copy_of(kind: type[ast.AST]) -> _Copy:
    """Return generated code that copies the nodes of a type with their children, as it runs for each node of a project.

    Lists are reused with the copies in them: a list that grows takes more memory than one of the parser.
    """
    lines = ["def copied(node):\n    slotted = new()\n"]
    lines += [
        f"    slotted.{name} = node.{name}\n" if name in _NO_NODES else _PART.format(name=name)
        for name in kind._fields
    ]
    lines += [
        f"    slotted.{name} = numbers[node.{name}]\n"
        if "lineno" in name
        else f"    slotted.{name} = node.{name}\n"
        for name in kind._attributes
    ]
    names: dict[str, Any] = {"copies": _COPIES, "new": _SLOTTED[kind], "numbers": _NUMBERS, "empty": _EMPTY}
    exec("".join([*lines, "    return slotted\n"]), names)  # noqa: S102 (of the names of fields alone)
    copied: _Copy = names["copied"]
    return copied
