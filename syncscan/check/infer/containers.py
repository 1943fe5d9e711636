"""Methods of lists, dictionaries, sets and strings."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from syncscan.check.infer.values import NONE, NUMBER, STRING, element_of, join, list_of, sequence
from syncscan.model import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from syncscan.check.infer.frame import Frame

KINDS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET, Kind.STRING})
_ADDS = frozenset({"append", "add", "appendleft", "insert"})
_EXTENDS = frozenset({"extend", "update"})


def method(base: Value, name: str, args: list[Value]) -> Value:
    """The value of ``base.name(...)`` for a container or a string."""
    if base.kind is Kind.STRING:
        return list_of(STRING) if name in {"split", "splitlines", "rsplit"} else STRING
    element = element_of(base)
    if base.kind is Kind.DICT:
        if name == "items":
            return list_of(sequence([UNKNOWN, element], Kind.TUPLE))
        if name == "values":
            return list_of(element)
        if name in {"get", "pop", "setdefault"}:
            return join(element, args[1] if len(args) > 1 else NONE) if name != "pop" else element
    if name in {"pop", "popleft"}:
        return element
    if name in {"index", "count", "__len__"}:
        return NUMBER
    return base if name in {"copy", "union", "difference", "intersection"} else UNKNOWN


def mutate(frame: Frame, function: ast.Attribute, base: Value, args: list[Value]) -> None:
    """Note what a method such as ``append`` puts into the container that it is called on."""
    if base.kind not in {Kind.LIST, Kind.SET, Kind.DICT} or not args:
        return
    if function.attr in _ADDS:
        added = args[-1]
    elif function.attr in _EXTENDS:
        added = element_of(args[0])
    else:
        return
    whole = list_of(join(element_of(base), added), base.kind)
    if whole != base:
        frame.mutate(function.value, whole)
