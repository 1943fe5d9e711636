"""Calls of Python's own functions and of its standard library."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import named
from syncscan.check.infer.evaluate.registry import FUNCTIONS, PACKAGES, register
from syncscan.check.infer.evaluate.storing import store_attribute
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.values.basic import (
    BOOL,
    EMPTY,
    INT,
    NUMBER,
    STRING,
    element_of,
    iterated,
    list_of,
    partial_of,
    refine,
    sequence,
    slice_of,
    table,
    updated,
)
from syncscan.check.infer.values.lattice import join, join_all
from syncscan.model import UNKNOWN, Kind, Value

_RESULTS = {
    **dict.fromkeys(("builtins.int", "builtins.len", "builtins.ord", "builtins.id", "builtins.hash"), INT),
    **dict.fromkeys(("builtins.bool", "builtins.isinstance", "builtins.hasattr", "builtins.callable"), BOOL),
    **dict.fromkeys(("builtins.float", "builtins.complex", "builtins.round"), NUMBER),
    **dict.fromkeys(("builtins.str", "builtins.repr", "builtins.format", "builtins.str.format"), STRING),
    **dict.fromkeys(("math.ceil", "math.floor", "math.prod", "math.gcd", "operator.index"), INT),
    **dict.fromkeys(("math.sqrt", "math.log", "math.log2", "math.exp", "math.pow"), NUMBER),
    "builtins.range": list_of(INT),
    "logging.getLogger": Value(Kind.INSTANCE, payload="logging.Logger"),
}


@register(PACKAGES, "builtins", "math", "operator", "warnings", "logging", "copy", "pickle")
def _of_python(frame: Frame, name: str, call: Call) -> Value:
    frame.note_operation(name, call)
    return _RESULTS.get(name, UNKNOWN)


@register(FUNCTIONS, "copy.copy", "copy.deepcopy", "builtins.iter", "builtins.abs")
def _the_same(frame: Frame, call: Call) -> Value:
    return call.first


@register(FUNCTIONS, "builtins.next", "builtins.sum")
def _an_element(frame: Frame, call: Call) -> Value:
    return iterated(call.first)


@register(FUNCTIONS, "builtins.max", "builtins.min")
def _chosen(frame: Frame, call: Call) -> Value:
    """One of the arguments, or an item of the only one."""
    return join_all(call.args) if len(call.args) > 1 else iterated(call.first)


@register(FUNCTIONS, "builtins.list", "builtins.sorted", "builtins.reversed")
def _list(frame: Frame, call: Call) -> Value:
    return _sequence_of(Kind.LIST, call)


@register(FUNCTIONS, "builtins.tuple")
def _tuple(frame: Frame, call: Call) -> Value:
    return _sequence_of(Kind.TUPLE, call)


@register(FUNCTIONS, "builtins.set")
def _set(frame: Frame, call: Call) -> Value:
    return _sequence_of(Kind.SET, call)


def _sequence_of(kind: Kind, call: Call) -> Value:
    given = call.first
    if given.items is not None and given.kind in {Kind.LIST, Kind.TUPLE}:
        return refine(given, kind=kind)
    return list_of(iterated(given), kind)


@register(FUNCTIONS, "builtins.dict")
def _dict(frame: Frame, call: Call) -> Value:
    whole = updated(EMPTY, call.first) if call.args else EMPTY
    return updated(whole, table(call.kwargs)) if call.kwargs else whole


@register(FUNCTIONS, "builtins.zip")
def _zip(frame: Frame, call: Call) -> Value:
    return list_of(sequence([iterated(arg) for arg in call.args], Kind.TUPLE))


@register(FUNCTIONS, "builtins.enumerate")
def _enumerate(frame: Frame, call: Call) -> Value:
    return list_of(sequence([INT, iterated(call.first)], Kind.TUPLE))


@register(FUNCTIONS, "builtins.map")
def _map(frame: Frame, call: Call) -> Value:
    if not call.args:
        return UNKNOWN
    items = tuple(iterated(arg) for arg in call.args[1:])
    return list_of(frame.call(call.first, Call(items, {}, call.node)))


@register(FUNCTIONS, "itertools.chain.from_iterable")
def _chained(frame: Frame, call: Call) -> Value:
    return list_of(element_of(element_of(call.first)))


@register(FUNCTIONS, "builtins.slice")
def _slice(frame: Frame, call: Call) -> Value:
    return slice_of(call.args)


@register(FUNCTIONS, "builtins.getattr")
def _getattr(frame: Frame, call: Call) -> Value:
    name = call.args[1].payload if len(call.args) > 1 else None
    if not isinstance(name, str):
        return UNKNOWN
    value = named(frame, frame.attribute(call.first, name, call.node), name)
    return join(value, call.args[2]) if len(call.args) > 2 else value


@register(FUNCTIONS, "functools.partial")
def _partial(frame: Frame, call: Call) -> Value:
    if not call.args:
        return UNKNOWN
    callee, *args = call.args
    return partial_of(callee, args, call.kwargs)


@register(FUNCTIONS, "typing.cast")
def _cast(frame: Frame, call: Call) -> Value:
    annotation = call.node.args[0] if isinstance(call.node, ast.Call) and call.node.args else None
    promised = frame.context.annotations.read(annotation, frame.module, frame.function)
    value = call.args[1] if len(call.args) > 1 else UNKNOWN
    return value if value.kind is not Kind.UNKNOWN else promised


@register(FUNCTIONS, "dataclasses.replace")
def _copied_record(frame: Frame, call: Call) -> Value:
    for option in call.first.options:
        if isinstance(option.payload, Class):
            for name, value in call.kwargs.items():
                store_attribute(frame, option.payload, name, value, call.node)
    return call.first
