"""Methods of lists, dictionaries, sets and strings."""

from __future__ import annotations

from collections import deque

from syncscan.check.infer.domain.basic import (
    INT,
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
from syncscan.check.infer.domain.lattice import join, join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.comparisons import note_comparisons
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.guesses import named
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import METHODS, register
from syncscan.model import Kind

_ADDS = frozenset({"append", "add", "appendleft", "insert"})
_EXTENDS = frozenset({"extend", "update"})


_TYPES: dict[Kind, type] = {
    Kind.LIST: deque,
    Kind.TUPLE: tuple,
    Kind.DICT: dict,
    Kind.SET: set,
    Kind.STRING: str,
    Kind.NUMBER: float,
}


def has_method(kind: Kind, name: str) -> bool:
    """Return whether Python's own objects of a kind have a method; True for other kinds. A deque counts as a list."""
    known = _TYPES.get(kind)
    return known is None or hasattr(known, name) or (known is deque and hasattr(list, name))


@register(METHODS, Kind.STRING)
def _of_string(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    if not has_method(base.kind, name):
        return BOTTOM
    if name == "format":
        return at.call_outside("builtins.str.format", call.on(base))
    if name in _NUMBERS_OF_TEXTS or name.startswith("is") or name.endswith("swith"):
        return NUMBER
    if name == "encode":  # bytes, which are numbers
        return list_of(INT)
    return list_of(STRING) if name in {"partition", "rpartition", "rsplit", "split", "splitlines"} else STRING


_NUMBERS_OF_TEXTS = frozenset({"count", "find", "index", "rfind", "rindex"})


@register(METHODS, Kind.LIST, Kind.TUPLE, Kind.SET)
def _of_container(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    if not has_method(base.kind, name):
        return BOTTOM
    if base.kind is Kind.LIST and name in {"insert", "pop"} and call.args:
        _note_index(at, f"builtins.list.{name}", base, call)
    if name in {"pop", "popleft"}:
        return element_of(base)
    if name == "sort":
        note_comparisons(at, "builtins.list.sort", call.on(base), ("__lt__", "__gt__"))
        return NONE
    if name in {"index", "count", "__len__"}:
        return NUMBER
    return base if name in {"copy", "union", "difference", "intersection"} else BOTTOM


def _note_index(at: Point, name: str, base: AbstractValue, call: Call) -> None:
    """Record a method whose first argument is an index, as the one in a subscript."""
    operation = at.context.table.find("builtins.list.__getitem__")
    if operation is not None:
        at.note_bound(name, call, Bound.of(operation, [base, call.first], {}))


@register(METHODS, Kind.DICT)
def _of_table(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    if name == "items":
        return list_of(sequence([BOTTOM, element_of(base)], Kind.TUPLE))
    if name == "values":
        return list_of(element_of(base))
    if name in {"get", "setdefault", "pop"}:
        if call.first is BOTTOM and call.args and not at.stays_open():
            return BOTTOM
        default = call.args[1] if len(call.args) > 1 else BOTTOM if name == "pop" else NONE
        item, key = item_of_table(base, call.first), call.first.payload
        return join(named(at, item, key) if isinstance(key, str) else item, default)
    return base if name == "copy" else NUMBER if name == "__len__" else BOTTOM


def with_added(base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return a container after a method such as ``append``."""
    if base.kind is Kind.UNION:
        return join_all([with_added(option, name, call) for option in base.items or ()])
    if base.kind is Kind.DICT:
        return _filled(base, name, call)
    if base.kind in {Kind.LIST, Kind.SET} and call.args:
        if name in _ADDS:
            return list_of(join(element_of(base), call.args[-1]), base.kind)
        if name in _EXTENDS:
            return list_of(join(element_of(base), iterated(call.first)), base.kind)
    return base


def _filled(base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return a dictionary after a method that may insert items."""
    if name == "setdefault" and len(call.args) > 1:
        return put(base, call.first, join(item_of_table(base, call.first), call.args[1]))
    if name == "update":
        whole = updated(base, call.first) if call.args else base
        return updated(whole, table(call.kwargs)) if call.kwargs else whole
    return base
