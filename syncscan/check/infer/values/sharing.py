"""One object for facts that are the same: most of what is told to cells is a copy of something else."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any, TypeVar, cast

from syncscan.check.infer.values.basic import EMPTY
from syncscan.model import UNKNOWN, Value

Fact = TypeVar("Fact")
_BY_CONTENT = frozenset({str, int, bool})


class Shared:
    """The facts that were told so far.

    What `==` passes over counts here: values are the same whose evidence is one object, and so is what is in them.
    """

    def __init__(self) -> None:
        self._values: dict[int, Value] = {}  # by a number that follows from what is in them
        self._sets: dict[Any, Any] = {}

    def one(self, fact: Fact) -> Fact:
        """The object for a fact."""
        one: Any = self._value(fact) if isinstance(fact, Value) else self._sets.setdefault(fact, fact)
        return cast("Fact", one)

    def _value(self, value: Value) -> Value:
        if value is UNKNOWN or value is EMPTY:  # which evaluators know by identity: a copy is something else
            return value
        if value.items:
            items = tuple(map(self._value, value.items))
            if not all(map(operator.is_, items, value.items)):
                value = replace(value, items=items)
        elif value.element is not None:
            element = self._value(value.element)
            if element is not value.element:
                value = replace(value, element=element)
        parts = _parts(value)
        known = self._values.setdefault(hash(parts), value)
        return known if known is value or _parts(known) == parts else value


def _parts(value: Value) -> tuple[object, ...]:
    """What is in a value, each part by what it is rather than by what it equals."""
    payload, items = value.payload, value.items
    return (
        id(value.kind), id(value.device), id(value.confidence), value.pinned, value.dtype, value.ndim, value.count,
        (type(payload), payload) if type(payload) in _BY_CONTENT else id(payload),
        id(value.evidence), id(value.element), None if items is None else tuple(map(id, items)),
    )  # fmt: skip
