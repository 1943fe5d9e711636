"""The lattice of values: `join` is what is known where either of two values may be.

It is commutative, associative and idempotent (as values compare: evidence, which is carried along, does not
count), so that what is joined from many places does not depend on their order. `UNKNOWN` is the bottom:
nothing is known yet, or nothing can be. `ANYTHING` is the top, and what joins too many kinds.

Between them a value is of one kind, or a union of one option for each kind, and for each class, function and
module by itself. Within a kind, each part is joined by itself:

- the place: unknown, then the GPU, or the CPU below other devices; the GPU and another one are `Device.MIXED`;
- how sure that is: as sure as the path on the GPU if there is one. Paths that differ are `INFERRED`, so a
  value stays `PROVED` where all are, and `ASSUMED` where all on the GPU are;
- whether it is pinned, its dtype, its dimensions and its constant: where they differ, not known;
- what is in it: item by item where there are as many, else what any of the items may be; of a dictionary
  key by key, as long as all of them are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from syncscan.check.infer.values.callables import Partial, key_of
from syncscan.model import UNKNOWN, Confidence, Device, Kind, Value

ANYTHING = Value(Kind.UNKNOWN, payload="anything")

_MOST_OPTIONS = 16
_MOST_FUNCTIONS = 6  # what may be any of more, such as an entry of a register, says nothing of its result
_BY_PAYLOAD = frozenset({Kind.INSTANCE, Kind.CLASS, Kind.FUNCTION, Kind.MODULE})
_STAY_BESIDE = _BY_PAYLOAD | {Kind.UNION}
_ORDER = {kind: position for position, kind in enumerate(Kind)}
_ORDER[Kind.MOVED] = _ORDER[Kind.TENSOR]  # what was moved beside a tensor is one


def as_tensor(value: Value) -> Value:
    """A value in a place where only a tensor can be: what was moved to the GPU turns out to be one."""
    return replace(value, kind=Kind.TENSOR) if value.kind is Kind.MOVED else value


def join_all(values: Iterable[Value]) -> Value:
    """The join of any number of values."""
    result = UNKNOWN
    for value in values:
        result = join(result, value)
    return result


def join_paths(values: Sequence[Value]) -> Value:
    """The join of what paths of a function lead to; an empty tensor need not be one where nothing is known of a path."""
    result = join_all(values)
    is_open = result.count == 0 and any(value.kind is Kind.UNKNOWN for value in values)
    return replace(result, count=None) if is_open else result


def join(a: Value, b: Value) -> Value:
    """What is known where either of two values may be."""
    if a is b:
        return a
    kind = a.kind
    if kind is Kind.UNKNOWN:
        return b if a.payload is None else a
    if b.kind is Kind.UNKNOWN:
        return a if b.payload is None else b
    if kind is b.kind and (kind not in _STAY_BESIDE or (a.payload is b.payload and kind is not Kind.UNION)):
        return _merge(a, b)
    return _merge(a, b) if _slot(a) == _slot(b) and kind is not Kind.UNION else _union(a, b)


def without_none(value: Value) -> Value:
    """The value where it is known not to be None."""
    if value.kind is Kind.UNION:
        return join_all(value.options)
    return UNKNOWN if value.kind is Kind.NONE else value


def union(options: tuple[Value, ...]) -> Value:
    """Any of several values, as a union has them: in its order, none of which another could be joined to.

    It is as sure, and for the reason, as the one on the GPU.
    """
    source = options[0]
    for option in options:
        if option.device is not source.device or option.confidence is not source.confidence:
            source = _decisive(source, option)
    return Value(Kind.UNION, source.device, source.confidence, items=options, evidence=source.evidence)


def _slot(value: Value) -> tuple[int, str]:
    """What two options of one union do not share."""
    return _ORDER[value.kind], key_of(value) if value.kind in _BY_PAYLOAD else ""


def _union(a: Value, b: Value) -> Value:
    known, more = _options(a), _options(b)
    if a.kind is Kind.UNION and all(option in known for option in more):
        return a
    by_slot = {_slot(option): option for option in known}
    for option in more:
        slot = _slot(option)
        by_slot[slot] = _merge(by_slot[slot], option) if slot in by_slot else option
    if len(by_slot) > _MOST_FUNCTIONS:
        functions = sum([option.kind is Kind.FUNCTION for option in by_slot.values()])
        if len(by_slot) > _MOST_OPTIONS or functions > _MOST_FUNCTIONS:
            return ANYTHING
    return union(tuple([by_slot[slot] for slot in sorted(by_slot)]))


def _options(value: Value) -> tuple[Value, ...]:
    return value.items or () if value.kind is Kind.UNION else (value,)


def _merge(a: Value, b: Value) -> Value:
    """The join of two values of one kind."""
    if a.kind is not b.kind:
        a, b = as_tensor(a), as_tensor(b)
    if a == b:
        return a
    if a.kind is Kind.DICT:
        return _join_tables(a, b)
    element, items = _join_inside(a, b)
    return Value(
        a.kind,
        _join_device(a.device, b.device),
        _join_confidence(a, b),
        a.pinned if a.pinned == b.pinned else None,
        a.dtype if a.dtype == b.dtype else None,
        a.ndim if a.ndim == b.ndim else None,
        _join_payload(a.payload, b.payload),
        items,
        element,
        _decisive(a, b).evidence,
        max(a.count, b.count) if a.count is not None and b.count is not None else None,
    )


_WEIGHT = {Device.CUDA: 2, Device.MIXED: 2, Device.CPU: 1, Device.OTHER: 1, Device.UNKNOWN: 0}


def _decisive(a: Value, b: Value) -> Value:
    """The side whose word counts: the one on the GPU, for that path is the one that blocks; then the surer."""
    return b if (_WEIGHT[b.device], b.confidence) > (_WEIGHT[a.device], a.confidence) else a


def _join_device(a: Device, b: Device) -> Device:
    if a is b or b is Device.UNKNOWN:
        return a
    if a is Device.UNKNOWN:
        return b
    return Device.OTHER if {a, b} == {Device.CPU, Device.OTHER} else Device.MIXED


def _join_confidence(a: Value, b: Value) -> Confidence:
    weight_of_a, weight_of_b = _WEIGHT[a.device], _WEIGHT[b.device]
    if a.device is b.device and a.confidence is b.confidence:
        return a.confidence
    if weight_of_a == weight_of_b:
        sure = a.confidence if a.confidence is b.confidence else Confidence.INFERRED
    else:
        sure = a.confidence if weight_of_a > weight_of_b else b.confidence
    return min(sure, Confidence.INFERRED)


def _join_payload(a: object, b: object) -> object:
    if isinstance(a, Partial) and isinstance(b, Partial):
        return Partial(
            join(a.callee, b.callee),
            tuple(map(join, a.args, b.args)),
            tuple((name, join(x, y)) for (name, x), (_, y) in zip(a.kwargs, b.kwargs, strict=True)),
        )
    return a if type(a) is type(b) and a == b else None


Key = Any  # a text or a number that stands in the source, or `REST`
REST = ...  # beside the keys of a dictionary: whatever was put under keys that are not known

_MOST_KEYS = 32


def items_of_table(value: Value) -> dict[Key, Value] | None:
    """What a dictionary has under each key; None where its keys are not known."""
    if value.items is None or not isinstance(value.payload, tuple):
        return None
    return dict(zip(value.payload, value.items, strict=True))


def table_of(items: Mapping[Key, Value]) -> Value:
    """A dictionary with these keys; one of too many has what any of them may be under each."""
    if len(items) > _MOST_KEYS:
        return Value(Kind.DICT, element=join_all(items.values()))
    keys = tuple(sorted(items, key=_order_of))
    return Value(Kind.DICT, payload=keys, items=tuple(items[key] for key in keys))


def _order_of(key: Key) -> tuple[str, object]:
    return type(key).__name__, 0 if key is REST else key


def _join_tables(a: Value, b: Value) -> Value:
    """Key by key; a key that only one of them has is there on some path, with what that one has."""
    one, other = items_of_table(a), items_of_table(b)
    if one is None or other is None:
        return Value(Kind.DICT, element=join(_joined_items(a), _joined_items(b)))
    if a.payload == b.payload:
        return Value(Kind.DICT, payload=a.payload, items=tuple(map(join, one.values(), other.values())))
    return table_of(one | {key: join(one.get(key, UNKNOWN), item) for key, item in other.items()})


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
