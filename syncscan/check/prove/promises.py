"""Values that the code computes, beside those that an annotation promises: the value lies in both."""

from __future__ import annotations

from collections.abc import Iterable

from syncscan.check.prove.values import (
    BOTTOM,
    TOP,
    AbstractValue,
    has_tensors,
    join_all,
    options_of,
    refine,
)
from syncscan.model import Kind

_PLAIN = frozenset({Kind.NUMBER, Kind.STRING, Kind.DTYPE})


def within(value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    """Return what is computed, as far as it is of a kind that is promised, or has tensors against the promise; else the promise.

    The promise stands for what is not computed yet, so that functions which call one another need not be followed for it.
    """
    if promised is TOP or (value is BOTTOM and promised.kind is Kind.TENSOR):
        return value
    if value is TOP or value is BOTTOM:
        return promised
    return join_all(_option_within(option, promised) for option in options_of(value))


def contradicted(promised: AbstractValue, values: Iterable[AbstractValue]) -> AbstractValue:
    """Return the join of a promise with the values of the code that have tensors against the promise."""
    if promised is TOP or has_tensors(promised):
        return promised
    return join_all(
        [promised, *(each for value in values for each in options_of(value) if has_tensors(each))]
    )


def _option_within(value: AbstractValue, promised: AbstractValue) -> AbstractValue:
    for each in options_of(promised):
        if value is each or (value.kind is each.kind and _says_more(value, each)):
            return value
        items = value.items if value.kind is each.kind is Kind.TUPLE else None
        if items and each.items and len(items) == len(each.items):
            return refine(value, items=tuple(map(within, items, each.items)))
    return contradicted(promised, [value])


def _says_more(value: AbstractValue, promised: AbstractValue) -> bool:
    """Return whether one value of a kind is known to be among those that another one of the kind stands for."""
    if value.kind is Kind.TENSOR:
        return True
    return value.kind in _PLAIN and promised.payload is None and promised.dtype in (None, value.dtype)
