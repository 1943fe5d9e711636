"""The values of literals and containers, and what is in a container."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from syncscan.check.infer.values.callables import BoundMethod, Partial
from syncscan.check.infer.values.lattice import (
    ANYTHING,
    REST,
    Key,
    items_of_table,
    join,
    join_all,
    table_of,
)
from syncscan.model import UNKNOWN, Device, Kind, Value

NONE = Value(Kind.NONE)
NUMBER = Value(Kind.NUMBER)
BOOL = Value(Kind.NUMBER, dtype="bool")
INT = Value(Kind.NUMBER, dtype="int")
FLOAT = Value(Kind.NUMBER, dtype="float")
STRING = Value(Kind.STRING)
NDARRAY = Value(Kind.NDARRAY)
TENSOR = Value(Kind.TENSOR)
CPU_TENSOR = Value(Kind.TENSOR, Device.CPU)
DEVICE = Value(Kind.DEVICE)
SLICE = Value(Kind.SLICE)

EMPTY = table_of({})

_MOST_ITEMS = 16
_DEEPEST = 3


@functools.lru_cache(maxsize=65536, typed=True)
def constant(value: Hashable) -> Value:
    """The value of a literal, which is kept where it may decide something later."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, int):
        return Value(Kind.NUMBER, dtype="int", payload=value)
    if isinstance(value, (float, complex)):
        return FLOAT
    if isinstance(value, str):
        return Value(Kind.STRING, payload=value) if len(value) < 80 else STRING
    return ANYTHING


TRUE = Value(Kind.NUMBER, dtype="bool", payload=True)
FALSE = Value(Kind.NUMBER, dtype="bool", payload=False)


def depth(value: Value) -> int:
    """How many containers are nested in one another; what a callable holds is not in them, and None may be beside one."""
    inside = _inside(value)
    if not inside:
        return 0
    return max(map(depth, inside)) + (value.kind is not Kind.UNION)


def _inside(value: Value) -> tuple[Value, ...]:
    return value.items or (() if value.element is None else (value.element,))


def _depth_of_callables(value: Value) -> int:
    """How many callables that hold arguments are nested in one another, by whatever else."""
    inside = _inside(value)
    if isinstance(value.payload, (BoundMethod, Partial)):
        return 1 + max(map(_depth_of_callables, value.payload.inside))
    return max(map(_depth_of_callables, inside), default=0)


def holds_gpu(value: Value) -> bool:
    """Whether a value, or anything in it, is on the GPU on some path; a device that names the GPU counts."""
    if value.device is Device.CUDA or value.device is Device.MIXED:
        return True
    if value.kind is Kind.STRING:
        return isinstance(value.payload, str) and value.payload.startswith("cuda")
    if value.items is not None:
        return any(map(holds_gpu, value.items))
    return value.element is not None and holds_gpu(value.element)


def list_of(element: Value, kind: Kind = Kind.LIST) -> Value:
    """A container of unknown length."""
    return Value(kind, element=element if depth(element) < _DEEPEST else ANYTHING)


def table(items: Mapping[Key, Value]) -> Value:
    """A dictionary whose keys are known, `REST` for the others among them."""
    return table_of({key: item if depth(item) < _DEEPEST else ANYTHING for key, item in items.items()})


def key_in_table(index: Value) -> Key:
    """The key that an index is; `REST` where it is not known."""
    return index.payload if isinstance(index.payload, (str, int)) and index.dtype != "bool" else REST


def put(base: Value, index: Value, item: Value) -> Value:
    """A dictionary in which something has been put under a key, in place of what was there."""
    known = items_of_table(base)
    if known is None:
        return list_of(join(element_of(base), item), Kind.DICT)
    key = key_in_table(index)
    return table(known | {key: join(known.get(REST, UNKNOWN), item) if key is REST else item})


def updated(base: Value, other: Value) -> Value:
    """A dictionary after ``base.update(other)``."""
    known, more = items_of_table(base), items_of_table(other)
    if known is None or more is None:
        return put(base, UNKNOWN, element_of(other))
    rest = join(known.get(REST, UNKNOWN), more.get(REST, UNKNOWN))
    return table(known | more | ({} if rest is UNKNOWN else {REST: rest}))


def item_of_table(base: Value, index: Value) -> Value:
    """What a dictionary has under a key."""
    known, key = items_of_table(base), key_in_table(index)
    if known is None or key is REST:
        return element_of(base)
    return join(known.get(key, UNKNOWN), known.get(REST, UNKNOWN))


def sequence(items: list[Value], kind: Kind) -> Value:
    """A tuple or list literal: keeps its items if it is short."""
    kept = tuple(item if depth(item) < _DEEPEST else ANYTHING for item in items)
    if len(kept) > _MOST_ITEMS:
        return Value(kind, element=join_all(kept))
    return Value(kind, items=kept)


def record(payload: object, items: Iterable[Value]) -> Value:
    """A named tuple, which keeps what its fields were made of."""
    return Value(
        Kind.INSTANCE,
        payload=payload,
        items=tuple(item if depth(item) < _DEEPEST else ANYTHING for item in items),
    )


def partial_of(callee: Value, args: Iterable[Value], kwargs: Mapping[str, Value]) -> Value:
    """A callable that has got some of its arguments already."""
    kept = [
        value if _depth_of_callables(value) < _DEEPEST else ANYTHING for value in (*args, *kwargs.values())
    ]
    if _depth_of_callables(callee) >= _DEEPEST:
        return ANYTHING
    given = tuple(kept[: len(kept) - len(kwargs)])
    return Value(
        Kind.FUNCTION,
        payload=Partial(callee, given, tuple(zip(kwargs, kept[len(given) :], strict=True))),
    )


def slice_of(bounds: Iterable[Value]) -> Value:
    """A slice, with its bounds if one of them is more than a number; no bound is a container, so nothing nests."""
    kept = tuple(ANYTHING if depth(bound) > 1 else bound for bound in bounds)
    return (
        SLICE if {bound.kind for bound in kept} <= {Kind.NUMBER, Kind.NONE} else Value(Kind.SLICE, items=kept)
    )


def iterated(value: Value) -> Value:
    """What iterating over a value yields: of a dictionary its keys."""
    return UNKNOWN if value.kind is Kind.DICT else element_of(value)


def element_of(value: Value) -> Value:
    """What indexing a value with something unknown yields."""
    if value.kind is Kind.UNION:
        return join_all(element_of(option) for option in value.options)
    if value.items is not None:
        return join_all(value.items)
    if value.element is not None:
        return value.element
    if value.kind is Kind.TENSOR:
        return refine(value, ndim=value.ndim - 1 if value.ndim else None)
    if value.kind is Kind.NDARRAY:
        if value.ndim == 1:
            return NUMBER
        return refine(value, ndim=value.ndim - 1 if value.ndim else None)
    if value.kind is Kind.STRING:
        return STRING
    return UNKNOWN


def refine(value: Value, **changes: object) -> Value:
    """The value with other fields; itself if nothing changes."""
    for name, new in changes.items():
        if getattr(value, name) != new:
            return replace(value, **changes)  # type: ignore[arg-type]  # fields by their names
    return value
