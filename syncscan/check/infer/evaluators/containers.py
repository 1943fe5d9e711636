"""Methods of lists, dictionaries, sets and strings."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import named
from syncscan.check.infer.evaluate.registry import METHODS, register
from syncscan.check.infer.evaluate.storing import mutate
from syncscan.check.infer.values.basic import (
    NONE,
    NUMBER,
    STRING,
    element_of,
    item_of_table,
    iterated,
    list_of,
    put,
    sequence,
    table,
    updated,
)
from syncscan.check.infer.values.lattice import join
from syncscan.model import UNKNOWN, Kind, Value

_ADDS = frozenset({"append", "add", "appendleft", "insert"})
_EXTENDS = frozenset({"extend", "update"})


@register(METHODS, Kind.STRING)
def _of_string(frame: Frame, base: Value, name: str, call: Call) -> Value:
    if name == "format":
        return frame.call_outside("builtins.str.format", call.on(base))
    return list_of(STRING) if name in {"split", "splitlines", "rsplit"} else STRING


@register(METHODS, Kind.LIST, Kind.TUPLE, Kind.SET)
def _of_container(frame: Frame, base: Value, name: str, call: Call) -> Value:
    if name in {"pop", "popleft"}:
        return element_of(base)
    if name in {"index", "count", "__len__"}:
        return NUMBER
    return base if name in {"copy", "union", "difference", "intersection"} else UNKNOWN


@register(METHODS, Kind.DICT)
def _of_table(frame: Frame, base: Value, name: str, call: Call) -> Value:
    if name == "items":
        return list_of(sequence([UNKNOWN, element_of(base)], Kind.TUPLE))
    if name == "values":
        return list_of(element_of(base))
    if name in {"get", "setdefault", "pop"}:
        default = call.args[1] if len(call.args) > 1 else UNKNOWN if name == "pop" else NONE
        item, key = item_of_table(base, call.first), call.first.payload
        return join(named(frame, item, key) if isinstance(key, str) else item, default)
    return base if name == "copy" else NUMBER if name == "__len__" else UNKNOWN


def note_added(frame: Frame, function: ast.Attribute, base: Value, call: Call) -> None:
    """Note what a method such as ``append`` puts into the container that it is called on."""
    whole = base
    if base.kind is Kind.DICT:
        whole = _filled(base, function.attr, call)
    elif base.kind in {Kind.LIST, Kind.SET} and call.args:
        if function.attr in _ADDS:
            whole = list_of(join(element_of(base), call.args[-1]), base.kind)
        elif function.attr in _EXTENDS:
            whole = list_of(join(element_of(base), iterated(call.first)), base.kind)
    if whole is not base and whole != base:
        mutate(frame, function.value, whole)


def _filled(base: Value, name: str, call: Call) -> Value:
    """A dictionary after a method that may put something into it."""
    if name == "setdefault" and len(call.args) > 1:
        return put(base, call.first, join(item_of_table(base, call.first), call.args[1]))
    if name == "update":
        whole = updated(base, call.first) if call.args else base
        return updated(whole, table(call.kwargs)) if call.kwargs else whole
    return base
