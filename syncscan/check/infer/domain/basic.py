"""Abstract values of literals and containers, and of the elements of containers."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final

from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.lattice import (
    REST,
    Key,
    items_of_table,
    join,
    join_all,
    table_of,
    with_items,
)
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, TOP, AbstractValue, fact, refine
from syncscan.model import ON_GPU, ZERO, Confidence, Device, Kind

SEQUENCES: Final = frozenset({Kind.LIST, Kind.TUPLE})
NONE: Final = AbstractValue(Kind.NONE)
NUMBER: Final = AbstractValue(Kind.NUMBER)
BOOL: Final = AbstractValue(Kind.NUMBER, dtype="bool")
INT: Final = AbstractValue(Kind.NUMBER, dtype="int")
FLOAT: Final = AbstractValue(Kind.NUMBER, dtype="float")
STRING: Final = AbstractValue(Kind.STRING)
NDARRAY: Final = AbstractValue(Kind.NDARRAY)
TENSOR: Final = AbstractValue(Kind.TENSOR)
CPU_TENSOR: Final = AbstractValue(Kind.TENSOR, Device.CPU)
DEVICE: Final = AbstractValue(Kind.DEVICE)
SLICE: Final = AbstractValue(Kind.SLICE)

EMPTY: Final = table_of({})

_MOST_ITEMS: Final = 16
_DEEPEST: Final = 3


@functools.lru_cache(maxsize=65536, typed=True)
def constant(value: Hashable) -> AbstractValue:
    """Return the value of a literal, with the literal itself as payload where it may decide a condition later."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, int):
        return AbstractValue(Kind.NUMBER, dtype="int", payload=value)
    if isinstance(value, float):
        return FLOAT if value else AbstractValue(Kind.NUMBER, dtype="float", payload=ZERO)
    if isinstance(value, complex):
        return NUMBER
    if isinstance(value, str):
        return AbstractValue(Kind.STRING, payload=value) if len(value) < 80 else STRING
    return AbstractValue(Kind.INSTANCE, payload=f"builtins.{type(value).__name__}")


_BATCH: Final = AbstractValue(Kind.MOVED, Device.CPU, Confidence.INFERRED)
GPU_BATCH: Final = AbstractValue(Kind.MOVED, Device.CUDA, Confidence.INFERRED, payload="batch")
_OF_LOADERS: Final = "torch.utils.data.DataLoader"
LOADER: Final = AbstractValue(Kind.INSTANCE, Device.CPU, Confidence.INFERRED, payload=_OF_LOADERS)
TRUE: Final = AbstractValue(Kind.NUMBER, dtype="bool", payload=True)
FALSE: Final = AbstractValue(Kind.NUMBER, dtype="bool", payload=False)


def _within(value: AbstractValue, levels: int = _DEEPEST - 1) -> AbstractValue:
    """Return a value in which everything nested deeper than ``levels`` containers is unknown."""
    return value if value.depth <= levels else _cut(value, levels)


@functools.cache
def _cut(value: AbstractValue, levels: int) -> AbstractValue:
    inside = _inside(value)
    if inside is None:
        return value
    if value.kind is Kind.UNION:
        return join_all([_cut(option, levels) for option in inside])
    if not levels:
        return BOTTOM
    kept = tuple([_cut(each, levels - 1) for each in inside])
    return with_items(value, kept) if value.items is not None else refine(value, element=kept[0])


def _inside(value: AbstractValue) -> tuple[AbstractValue, ...] | None:
    """Return the parts of a container or union; None for other values."""
    if value.items is not None:
        return value.items
    return None if value.element is None else (value.element,)


def _depth_of_callables(value: AbstractValue) -> int:
    """Return the number of nested callables that hold arguments, through whatever containers."""
    inside = _inside(value) or ()
    if isinstance(value.payload, (BoundMethod, Partial)):
        return 1 + max(map(_depth_of_callables, value.payload.inside))
    return max(map(_depth_of_callables, inside), default=0)


def list_of(element: AbstractValue, kind: Kind = Kind.LIST) -> AbstractValue:
    """Return a container of unknown length."""
    return AbstractValue(kind, element=_within(element))


def table(items: Mapping[Key, AbstractValue]) -> AbstractValue:
    """Return a dictionary with known keys; `REST` stands for the other keys."""
    return table_of({key: _within(item) for key, item in items.items()})


def key_in_table(index: AbstractValue) -> Key:
    """Return the key that an index denotes, or `REST` where the index is not a known constant."""
    return index.payload if isinstance(index.payload, (str, int)) and index.dtype != "bool" else REST


def put(base: AbstractValue, index: AbstractValue, item: AbstractValue) -> AbstractValue:
    """Return a dictionary after ``base[index] = item``."""
    known = items_of_table(base)
    if known is None:
        return list_of(join(element_of(base), item), Kind.DICT)
    key = key_in_table(index)
    return table(known | {key: join(known.get(REST, BOTTOM), item) if key is REST else item})


def updated(base: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return a dictionary after ``base.update(other)``."""
    known, more = items_of_table(base), items_of_table(other)
    if known is None or more is None:
        return put(base, BOTTOM, join_all(map(_item_of, other.options)))
    rest = join(known.get(REST, BOTTOM), more.get(REST, BOTTOM))
    return table(known | more | ({} if rest is BOTTOM else {REST: rest}))


def _item_of(source: AbstractValue) -> AbstractValue:
    """Return an item of a dictionary, or the second item of a pair in a list of keys and items."""
    element = element_of(source)
    return element if source.kind is Kind.DICT else join_all(map(_second, element.options))


def _second(pair: AbstractValue) -> AbstractValue:
    if pair.kind is not Kind.TUPLE:
        return pair
    return pair.items[1] if pair.items is not None and len(pair.items) == 2 else element_of(pair)


def item_of_table(base: AbstractValue, index: AbstractValue) -> AbstractValue:
    """Return the value of a dictionary under a key."""
    known, key = items_of_table(base), key_in_table(index)
    if known is None or key is REST:
        return element_of(base)
    return join(known.get(key, BOTTOM), known.get(REST, BOTTOM))


def sequence(items: list[AbstractValue], kind: Kind) -> AbstractValue:
    """Return a tuple or list literal: with its items if short, else with their join."""
    kept = tuple(map(_within, items))
    if len(kept) > _MOST_ITEMS:
        return AbstractValue(kind, element=join_all(kept))
    return AbstractValue(kind, items=kept)


def record(payload: object, items: Iterable[AbstractValue]) -> AbstractValue:
    """Return a named tuple with the values of its fields."""
    return AbstractValue(
        Kind.INSTANCE,
        payload=payload,
        items=tuple(map(_within, items)),
    )


def partial_of(
    callee: AbstractValue, args: Iterable[AbstractValue], kwargs: Mapping[str, AbstractValue]
) -> AbstractValue:
    """Return a ``functools.partial``: a callable with some of its arguments."""
    kept = [value if _depth_of_callables(value) < _DEEPEST else TOP for value in (*args, *kwargs.values())]
    if _depth_of_callables(callee) >= _DEEPEST:
        return TOP
    given = tuple(kept[: len(kept) - len(kwargs)])
    return AbstractValue(
        Kind.FUNCTION,
        payload=Partial(callee, given, tuple(zip(kwargs, kept[len(given) :], strict=True))),
    )


def slice_of(bounds: Iterable[AbstractValue]) -> AbstractValue:
    """Return a slice with its bounds, without their constants. Bounds are no containers, so slices do not nest."""
    return AbstractValue(Kind.SLICE, items=tuple([_bound(_within(bound, 1)) for bound in bounds]))


def _bound(value: AbstractValue) -> AbstractValue:
    if value.kind is Kind.UNION:
        return join_all([_bound(option) for option in value.items or ()])
    return NUMBER if value.kind is Kind.NUMBER else value


def iterated(value: AbstractValue) -> AbstractValue:
    """Return the value that iterating yields; unknown keys (`BOTTOM`) for a dictionary."""
    return BOTTOM if value.kind is Kind.DICT else element_of(value)


def _less_by_one(value: AbstractValue) -> Any:
    ndim = fact(value, "ndim")
    return ndim if ndim is None or ndim is DIFFERS else ndim - 1 if ndim else DIFFERS


def is_module(value: AbstractValue) -> bool:
    """Return whether a value is an ``nn.Module``: an object of a class of torch or of the project."""
    if value.kind is not Kind.INSTANCE:
        return False
    cls = value.payload
    return cls.startswith("torch.nn.") if isinstance(cls, str) else bool(getattr(cls, "is_module", False))


def is_batch(value: AbstractValue) -> bool:
    """Return whether a value is what a loader yields, or any part of it; see `syncscan.check.infer.transfer.loaders`."""
    return value.kind is Kind.MOVED and value.device not in ON_GPU


def is_gpu_batch(value: AbstractValue) -> bool:
    """Return whether a value is what a framework passes on the GPU, or any part of it."""
    return value.kind is Kind.MOVED and value.payload == GPU_BATCH.payload


def element_of(value: AbstractValue) -> AbstractValue:
    """Return the value of an element at an unknown index; a tensor has one dimension less."""
    if value.kind is Kind.UNION:
        return join_all(element_of(option) for option in value.options)
    if value.items is not None:
        return join_all(value.items)
    if value.element is not None:
        return value.element
    if value.kind is Kind.TENSOR:
        return refine(value, ndim=_less_by_one(value))
    if value.kind is Kind.NDARRAY:
        ndim = _less_by_one(value)
        item = refine(value, ndim=ndim)
        return NUMBER if ndim == 0 else join(NUMBER, item) if ndim is DIFFERS else item
    if value.kind is Kind.STRING:
        return STRING
    if value.kind is Kind.INSTANCE and value.payload == _OF_LOADERS:
        return GPU_BATCH if value.device is Device.CUDA else refine(_BATCH, device=value.device)
    return value if is_batch(value) or is_gpu_batch(value) else BOTTOM
