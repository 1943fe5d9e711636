"""Stores to attributes in a walk, by the classes whose objects they may be of."""

from __future__ import annotations

from collections.abc import Iterator

from syncscan.check.infer.source.index import Class, Module
from syncscan.check.prove.outline import ANY_NAME
from syncscan.check.prove.values import BOTTOM, AbstractValue
from syncscan.check.prove.walk import Walk
from syncscan.model import Kind


def stores_of(walk: Walk, name: str, classes: set[Class], *, is_list: bool) -> Iterator[AbstractValue]:
    """Yield all that a function stores into an attribute of objects of some classes."""
    for base, value in (*walk.stored.get(name, ()), *(walk.filled.get(name, ()) if is_list else ())):
        if _may_be_of(base, classes):
            yield value
    for base, value in walk.stored.get(ANY_NAME, ()):
        if _is_of(base, classes):
            yield value


def _may_be_of(base: AbstractValue, classes: set[Class]) -> bool:
    """Return whether the owner of an attribute that is set may be an object of some classes."""
    if base is BOTTOM:
        return False
    for option in base.options:
        if option.kind in {Kind.INSTANCE, Kind.CLASS}:
            if option.payload in classes:
                return True
        elif option.kind not in {Kind.NUMBER, Kind.STRING, Kind.TENSOR, Kind.NDARRAY, Kind.LIST, Kind.DICT}:
            return option.kind is not Kind.MODULE or not isinstance(option.payload, Module)
    return False


def _is_of(base: AbstractValue, classes: set[Class]) -> bool:
    """Return whether a value is known to be an object of some classes, or may be one of several."""
    kinds = {Kind.INSTANCE, Kind.CLASS}
    return any(option.kind in kinds and option.payload in classes for option in base.options)
