"""The lattice of values: what is known where either of two values may be.

`UNKNOWN` is the bottom (nothing is known yet, or nothing can be), so the join of a known value and an
unknown one is the known one. Different places join to `Device.MIXED`, different kinds to a union, and what
joins too many kinds is `ANYTHING`, the top.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from syncscan.model import UNKNOWN, Confidence, Device, Kind, Value

ANYTHING = Value(Kind.UNKNOWN, payload="anything")

_MOST_OPTIONS = 6


def as_tensor(value: Value) -> Value:
    """A value in a place where only a tensor can be: what was moved to the GPU turns out to be one."""
    return replace(value, kind=Kind.TENSOR) if value.kind is Kind.MOVED else value


def join_all(values: Iterable[Value]) -> Value:
    """The join of any number of values."""
    result = UNKNOWN
    for value in values:
        result = join(result, value)
    return result


def join(a: Value, b: Value) -> Value:
    """What is known where either of two values may be."""
    if a is b or b is UNKNOWN or a is ANYTHING:
        return a
    if a is UNKNOWN or b is ANYTHING:
        return b
    if Kind.MOVED in {a.kind, b.kind} and Kind.TENSOR in {a.kind, b.kind}:
        a, b = as_tensor(a), as_tensor(b)
    if a.kind is b.kind and a.kind is not Kind.UNION:
        return _join_same_kind(a, b)
    return _union(a, b)


def _join_same_kind(a: Value, b: Value) -> Value:
    if a == b:
        return a
    if a.kind in {Kind.INSTANCE, Kind.CLASS, Kind.FUNCTION, Kind.MODULE} and a.payload != b.payload:
        return _union(a, b)
    device = _join_device(a.device, b.device)
    source = _decisive(a, b)
    confidence = source.confidence
    if device is Device.MIXED or Device.UNKNOWN in {a.device, b.device}:
        confidence = min(confidence, Confidence.INFERRED)
    element, items = _join_inside(a, b)
    return Value(
        a.kind,
        device,
        confidence,
        a.pinned if a.pinned == b.pinned else None,
        a.dtype if a.dtype == b.dtype else None,
        a.ndim if a.ndim == b.ndim else None,
        a.payload if a.payload == b.payload else None,
        items,
        element,
        source.evidence,
    )


_WEIGHT = {Device.CUDA: 3, Device.MIXED: 3, Device.CPU: 2, Device.OTHER: 1, Device.UNKNOWN: 0}


def _decisive(a: Value, b: Value) -> Value:
    """The side whose word counts: the one on the GPU, for that path is the one that blocks; then the surer."""
    return b if (_WEIGHT[b.device], b.confidence) > (_WEIGHT[a.device], a.confidence) else a


def _join_device(a: Device, b: Device) -> Device:
    if a is b or b is Device.UNKNOWN:
        return a
    return b if a is Device.UNKNOWN else Device.MIXED


def _join_inside(a: Value, b: Value) -> tuple[Value | None, tuple[Value, ...] | None]:
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return None, tuple(map(join, a.items, b.items))
    if a.items is None and b.items is None and a.element is None and b.element is None:
        return None, None
    return join(_joined_items(a), _joined_items(b)), None


def _joined_items(value: Value) -> Value:
    if value.items is not None:
        return join_all(value.items)
    return value.element or UNKNOWN


def _union(a: Value, b: Value) -> Value:
    options = list(a.items or ()) if a.kind is Kind.UNION else [a]
    for option in (b.items or ()) if b.kind is Kind.UNION else (b,):
        for position, known in enumerate(options):
            if known.kind is option.kind and (
                known.kind not in {Kind.INSTANCE, Kind.CLASS, Kind.FUNCTION, Kind.MODULE}
                or known.payload == option.payload
            ):
                options[position] = _join_same_kind(known, option)
                break
        else:
            options.append(option)
    if len(options) > _MOST_OPTIONS:
        return ANYTHING
    if len(options) == 1:
        return options[0]
    if (
        a.kind is Kind.UNION
        and len(options) == len(a.items or ())
        and all(map(_same, options, a.items or ()))
    ):
        return a
    return union(tuple(options))


def union(options: tuple[Value, ...]) -> Value:
    """Any of several values of different kinds; as sure, and for the reason, as the one on the GPU."""
    source = options[0]
    for option in options[1:]:
        source = _decisive(source, option)
    return Value(Kind.UNION, source.device, source.confidence, items=options, evidence=source.evidence)


def _same(a: Value, b: Value) -> bool:
    return a is b


def without_none(value: Value) -> Value:
    """The value where it is known not to be None."""
    if value.kind is Kind.UNION:
        return join_all(value.options)
    return UNKNOWN if value.kind is Kind.NONE else value
