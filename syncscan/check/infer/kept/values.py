"""Serialisation of abstract values: one line for each value, referenced by its number."""

from __future__ import annotations

import json

from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.infer.kept.lines import KeptLines, Parts
from syncscan.check.infer.kept.names import Data, Names, text_of
from syncscan.model import Confidence, Device, Kind

_KINDS, _DEVICES = [*Kind], [*Device]
_KIND_NUMBERS = {each: number for number, each in enumerate(_KINDS)}
_DEVICE_NUMBERS = {each: number for number, each in enumerate(_DEVICES)}


class ValueWriter(dict[AbstractValue, int]):
    """The numbers of values, assigned on first request; ``lines`` has one serialised line for each, or None for a kept line."""

    def __init__(self, names: Names, before: ValueReader) -> None:
        """Start with the numbers of the values read by ``before``."""
        super().__init__((value, number) for number, value in before.items())
        self.lines: list[str | None] = [None] * len(before.lines)
        self._names = names

    def __missing__(self, value: AbstractValue) -> int:
        line = text_of(self._data(value))  # which may number others
        number = self[value] = len(self.lines)
        self.lines.append(line)
        return number

    def fact(self, fact: object) -> Data:
        """Serialise a contribution to a cell: the number of a value, or else a list."""
        return self[fact] if isinstance(fact, AbstractValue) else self._names.data(fact)

    def _data(self, value: AbstractValue) -> Data:
        return [
            _KIND_NUMBERS[value.kind],
            _DEVICE_NUMBERS[value.device],
            int(value.confidence),
            value.pinned,
            value.dtype,
            value.ndim,
            self._payload(value.payload),
            None if value.items is None else [self[item] for item in value.items],
            None if value.element is None else self[value.element],
            value.count,
            None if value.via is None else sorted(value.via),
            value.differs,
        ]

    def _payload(self, payload: object) -> Data:
        if isinstance(payload, BoundMethod):
            return ["b", self._names.data(payload.function), self[payload.receiver]]
        if isinstance(payload, Partial):
            kwargs = [[name, self[value]] for name, value in payload.kwargs]
            return ["P", self[payload.callee], [self[each] for each in payload.args], kwargs]
        return self._names.data(payload)


class ValueReader(dict[int, AbstractValue]):
    """The values by number, each deserialised on its first request."""

    def __init__(self, names: Names, parts: Parts) -> None:
        self._names = names
        self.lines = KeptLines("values", parts)

    def __missing__(self, number: int) -> AbstractValue:
        kind, device, confidence, pinned, dtype, ndim, payload, items, element, count, via, differs = (
            json.loads(self.lines[number])
        )
        value = self[number] = AbstractValue(
            _KINDS[kind],
            _DEVICES[device],
            Confidence(confidence),
            pinned,
            dtype,
            ndim,
            self._payload(payload),
            None if items is None else tuple([self[item] for item in items]),
            None if element is None else self[element],
            count,
            None if via is None else frozenset(via),
            differs,
        )
        return value

    def fact(self, data: Data) -> object:
        """Deserialise a contribution to a cell."""
        return self._names.thing(data) if isinstance(data, list) else self[data]

    def _payload(self, data: Data) -> object:
        if isinstance(data, list) and data[0] == "b":
            return BoundMethod(self._names.thing(data[1]), self[data[2]])
        if isinstance(data, list) and data[0] == "P":
            kwargs = tuple((name, self[value]) for name, value in data[3])
            return Partial(self[data[1]], tuple([self[each] for each in data[2]]), kwargs)
        return self._names.thing(data)
