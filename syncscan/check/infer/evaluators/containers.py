"""Methods of lists, dictionaries, sets and strings."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.registry import METHODS, register
from syncscan.check.infer.evaluate.storing import mutate
from syncscan.check.infer.values.basic import NONE, NUMBER, STRING, element_of, list_of, sequence
from syncscan.check.infer.values.lattice import join
from syncscan.model import UNKNOWN, Kind, Value

_ADDS = frozenset({"append", "add", "appendleft", "insert"})
_EXTENDS = frozenset({"extend", "update"})


@register(METHODS, Kind.STRING)
def _of_string(frame: Frame, base: Value, name: str, call: Call) -> Value:
    if name == "format":
        return frame.call_outside("builtins.str.format", call.on(base))
    return list_of(STRING) if name in {"split", "splitlines", "rsplit"} else STRING


@register(METHODS, Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET)
def _of_container(frame: Frame, base: Value, name: str, call: Call) -> Value:
    element = element_of(base)
    if base.kind is Kind.DICT:
        if name == "items":
            return list_of(sequence([UNKNOWN, element], Kind.TUPLE))
        if name == "values":
            return list_of(element)
        if name in {"get", "setdefault"}:
            return join(element, call.args[1] if len(call.args) > 1 else NONE)
    if name in {"pop", "popleft"}:
        return element
    if name in {"index", "count", "__len__"}:
        return NUMBER
    return base if name in {"copy", "union", "difference", "intersection"} else UNKNOWN


def note_added(frame: Frame, function: ast.Attribute, base: Value, call: Call) -> None:
    """Note what a method such as ``append`` puts into the container that it is called on."""
    if base.kind not in {Kind.LIST, Kind.SET, Kind.DICT} or not call.args:
        return
    if function.attr in _ADDS:
        added = call.args[-1]
    elif function.attr in _EXTENDS:
        added = element_of(call.args[0])
    else:
        return
    whole = list_of(join(element_of(base), added), base.kind)
    if whole != base:
        mutate(frame, function.value, whole)
