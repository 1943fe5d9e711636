"""Syntax trees as they are kept: half as large as those of `ast`, for those of a whole project stay while it is checked.

CPython keeps what it knows of a node in a dictionary of its own. Here each type of node has a subtype with slots for the
same fields and positions, so whatever reads trees by `isinstance` and by the names of fields reads these too. What asks
for the exact type of a node asks for each of `types_of`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from syncscan.check.infer.source.syntax import PLAIN
from syncscan.check.nesting import parse

_Copy = Callable[[Any], Any]


def tree_of(text: str) -> ast.Module:
    """The syntax tree of a file; the errors of `parse`."""
    tree = parse(text)
    copy = _COPIES[ast.Module]
    assert copy is not None
    try:
        copied: ast.Module = copy(tree)
    except RecursionError:  # deeper than anybody writes: it stays, and the parts that were done in it
        return tree
    return copied


def types_of(*kinds: type[ast.AST]) -> frozenset[type[ast.AST]]:
    """The types of the nodes of some kinds: as `ast` makes them, and as they are kept."""
    return frozenset(each for kind in kinds for each in (kind, _SLOTTED[kind]))


_WITH_PATHS = (ast.Attribute, ast.Subscript)  # which get a slot for what `path_of` says of them


class _Slotted(dict[type[ast.AST], type[ast.AST]]):
    """For each type of node the one with slots."""

    def __missing__(self, kind: type[ast.AST]) -> type[ast.AST]:
        names = (*kind._fields, *kind._attributes, *(("path",) if kind in _WITH_PATHS else ()))
        slotted = self[kind] = type(
            kind.__name__, (kind,), {"__slots__": names, "__module__": __name__, "__init__": object.__init__}
        )
        return slotted


class _Copies(dict[type[Any], _Copy | None]):
    """What copies a node, by its type; None for what is no node."""

    def __missing__(self, kind: type[Any]) -> _Copy | None:
        copy = self[kind] = _copy_of(kind) if issubclass(kind, ast.AST) else None
        return copy


class _Numbers(dict[int, int]):
    """One object for each line; the parser makes one for each node."""

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
    """What copies the nodes of a type, and all inside: written out, for it runs once for each node of a project.

    A list stays, with the copies in it: one that grows takes more room than one of the parser.
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
