"""The lattice of abstract values: `join` returns the least value that covers two values.

The join is commutative, associative, idempotent and absorbing. `BOTTOM` carries no information, or none yet.
`TOP` may be of any kind. Any other value has one kind, or is a union with one option for each kind. Each
class, function and module has its own option, and so has each length of a tuple. Within a kind, the join treats each
field separately:

- device: UNKNOWN is below CUDA and CPU, CPU is below OTHER; CUDA and another device join to `Device.MIXED`;
- confidence: that of the path on the GPU if there is one; different paths are as sure as the surer one, at most `INFERRED`;
- pinned, dtype, dimensions and constant: unknown where they differ;
- contents: item by item for equal lengths, else the join of all items; key by key for dictionaries.

The height of the lattice is finite. A union of too many options widens to `TOP`. A dictionary of too many
keys, or tuples of too many lengths, widen to the join of their items. Containers nest to a limit (`basic`).
`WIDENED` counts the widenings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from syncscan.check.infer.domain.callables import Partial, key_of
from syncscan.check.infer.domain.value import BOTTOM, BY_PAYLOAD, DIFFERENCES, TOP, AbstractValue, Via, refine
from syncscan.model import ON_GPU, Confidence, Device, Kind

WIDENED: Final[Counter[str]] = Counter()

_MOST_OPTIONS: Final = 16
_MOST_FUNCTIONS: Final = (
    6  # what may be any of more, such as an entry of a register, says nothing of its result
)
_ORDER: Final = {kind: position for position, kind in enumerate(Kind)}
_ORDER[Kind.MOVED] = _ORDER[Kind.TENSOR]  # what was moved beside a tensor is one
_TUPLES: Final = _ORDER[Kind.TUPLE]
_MOST_LENGTHS: Final = 3  # of the tuples that a value may be
_JOINS: Final[dict[tuple[AbstractValue, AbstractValue], AbstractValue]] = {}


def forget_joins() -> None:
    """Free the cache of joins."""
    _JOINS.clear()


def as_tensor(value: AbstractValue) -> AbstractValue:
    """Return a value as a tensor, where the context admits tensors only: the result of an unresolved transfer becomes one."""
    if value.kind is Kind.UNION:
        return join_all(map(as_tensor, value.items or ()))
    return refine(value, kind=Kind.TENSOR, payload=None) if value.kind is Kind.MOVED else value


def join_all(values: Iterable[AbstractValue]) -> AbstractValue:
    """Return the join of any number of values."""
    result = BOTTOM
    for value in values:
        if value is not result:
            result = join(result, value)
    return result


def join(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """Return the join of two values; memoised."""
    if a is b or b is BOTTOM:
        return a
    if a is BOTTOM:
        return b
    known = _JOINS.get((a, b))
    if known is None:
        known = _JOINS[a, b] = _joined(a, b)
    return known


def _joined(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    if a.kind is Kind.UNKNOWN or b.kind is Kind.UNKNOWN:
        return TOP
    if a.kind is Kind.UNION or b.kind is Kind.UNION or _slot(a) != _slot(b):
        return _union(a, b)
    return _merge(a, b)


def at_most(a: AbstractValue, b: AbstractValue) -> bool:
    """Return whether ``a`` is below ``b`` in the lattice: their join is ``b``."""
    return join(a, b) is b


def without_none(value: AbstractValue) -> AbstractValue:
    """Return the value refined by ``is not None``."""
    if value.kind is Kind.UNION:
        return join_all(value.options)
    return BOTTOM if value.kind is Kind.NONE else value


def union(options: tuple[AbstractValue, ...]) -> AbstractValue:
    """Return the union of several values that do not join to one kind; its confidence is that of the option on the GPU."""
    source = options[0]
    for option in options:
        if option.device is not source.device or option.confidence is not source.confidence:
            source = _decisive(source, option)
    via = _via_of([option for option in options if option.device in ON_GPU])
    return AbstractValue(Kind.UNION, source.device, source.confidence, items=options, via=via)


def _slot(value: AbstractValue) -> tuple[int, str]:
    """Return the key of an option: a union has one option for each key."""
    if value.slot is None:
        if value.kind is Kind.TUPLE and value.items is not None:
            key = str(len(value.items))
        else:
            key = key_of(value) if value.kind in BY_PAYLOAD else ""
        value.slot = _ORDER[value.kind], key
    return value.slot


def _union(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    by_slot = {_slot(option): option for option in _options(a)}
    for option in _options(b):
        slot = _slot(option)
        by_slot[slot] = join(by_slot[slot], option) if slot in by_slot else option
    _join_lengths(by_slot)
    if len(by_slot) > _MOST_FUNCTIONS:
        functions = sum([option.kind is Kind.FUNCTION for option in by_slot.values()])
        if len(by_slot) > _MOST_OPTIONS or functions > _MOST_FUNCTIONS:
            WIDENED["union"] += 1
            return TOP
    options = tuple([by_slot[slot] for slot in sorted(by_slot)])
    return union(options) if len(options) > 1 else options[0]


def _join_lengths(by_slot: dict[tuple[int, str], AbstractValue]) -> None:
    """Join the tuples among some options where the length of one is not known, or where there are too many lengths."""
    slots = [slot for slot in by_slot if slot[0] == _TUPLES]
    if len(slots) > _MOST_LENGTHS or (len(slots) > 1 and (_TUPLES, "") in by_slot):
        WIDENED["tuple"] += (_TUPLES, "") not in by_slot
        items = [_joined_items(by_slot.pop(slot)) for slot in slots]
        by_slot[_TUPLES, ""] = AbstractValue(Kind.TUPLE, element=join_all(items))


def _options(value: AbstractValue) -> tuple[AbstractValue, ...]:
    return value.items or () if value.kind is Kind.UNION else (value,)


def _merge(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """Return the join of two values of one kind."""
    if a.kind is not b.kind:
        a, b = as_tensor(a), as_tensor(b)
        if a is b:
            return a
    if a.kind is Kind.DICT:
        return _join_tables(a, b)
    element, items = _join_inside(a, b)
    device = _join_device(a.device, b.device)
    differs = a.differs | b.differs
    pinned, dtype, ndim = a.pinned, a.dtype, a.ndim
    if pinned is not b.pinned:
        pinned, differs = _either(pinned, b.pinned, differs, "pinned")
    if dtype != b.dtype:
        dtype, differs = _either(dtype, b.dtype, differs, "dtype")
    if ndim != b.ndim:
        ndim, differs = _either(ndim, b.ndim, differs, "ndim")
    return AbstractValue(
        a.kind,
        device,
        _join_confidence(a, b),
        pinned,
        dtype,
        ndim,
        _join_payload(a.payload, b.payload),
        items,
        element,
        max(a.count, b.count) if a.count is not None and b.count is not None else None,
        via_of((a, b)) if a.kind is Kind.DEVICE or device in ON_GPU else None,
        differs,
    )


def _either(a: Any, b: Any, differs: int, name: str) -> tuple[Any, int]:
    """Return the join of two different facts, with the updated bits of the facts that differ."""
    bit = DIFFERENCES[name]
    if differs & bit:
        return None, differs
    if a is None or b is None:
        return (b if a is None else a), differs
    return None, differs | bit


def via_of(values: Iterable[AbstractValue]) -> Via | None:
    """Return the parameters that put any of some values on the GPU, or that are the devices; see `AbstractValue`."""
    return _via_of([each for each in values if each.device in ON_GPU or each.via is not None])


def _via_of(values: Sequence[AbstractValue]) -> Via | None:
    known = {each.via for each in values}
    if len(known) < 2:
        return known.pop() if known else None
    return frozenset().union(*[_BY_OTHERS if each is None else each for each in known])


_BY_OTHERS: Final[Via] = frozenset({""})
_WEIGHT: Final = {Device.CUDA: 2, Device.MIXED: 2, Device.CPU: 1, Device.OTHER: 1, Device.UNKNOWN: 0}


def _decisive(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """Return the value that decides the confidence: the one on the GPU, as its path blocks, then the more certain one."""
    return b if (_WEIGHT[b.device], b.confidence) > (_WEIGHT[a.device], a.confidence) else a


def _join_device(a: Device, b: Device) -> Device:
    if a is b or b is Device.UNKNOWN:
        return a
    if a is Device.UNKNOWN:
        return b
    return Device.OTHER if a not in ON_GPU and b not in ON_GPU else Device.MIXED


def _join_confidence(a: AbstractValue, b: AbstractValue) -> Confidence:
    weight_of_a, weight_of_b = _WEIGHT[a.device], _WEIGHT[b.device]
    if a.device is b.device and a.confidence is b.confidence:
        return a.confidence
    if not weight_of_a or not weight_of_b:  # of one path nothing is known
        return (
            a.confidence
            if weight_of_a > weight_of_b
            else b.confidence
            if weight_of_b
            else min(a.confidence, b.confidence)
        )
    if weight_of_a == weight_of_b:
        sure = max(a.confidence, b.confidence)
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
REST: Final = ...  # beside the keys of a dictionary: whatever was put under keys that are not known

_MOST_KEYS: Final = 32


def items_of_table(value: AbstractValue) -> dict[Key, AbstractValue] | None:
    """Return the items of a dictionary by key; None where the keys are unknown."""
    if value.items is None or not isinstance(value.payload, tuple):
        return None
    return dict(zip(value.payload, value.items, strict=True))


def table_of(items: Mapping[Key, AbstractValue]) -> AbstractValue:
    """Return a dictionary with these items; beyond 32 keys, one whose keys are unknown."""
    if len(items) > _MOST_KEYS:
        WIDENED["dictionary"] += 1
        return AbstractValue(Kind.DICT, element=join_all(items.values()))
    if REST in items:  # under a key may be that as well, and a key under which is no more says nothing
        rest = items[REST]
        under = {key: join(item, rest) for key, item in items.items()}
        items = {key: item for key, item in under.items() if item is not rest or key is REST}
    keys = tuple(sorted(items, key=_order_of))
    return AbstractValue(Kind.DICT, payload=keys, items=tuple([items[key] for key in keys]))


def with_items(value: AbstractValue, items: Sequence[AbstractValue]) -> AbstractValue:
    """Return a union or a container whose items have changed; items that have become alike are one."""
    if value.kind is Kind.UNION:
        return join_all(items)
    if value.kind is Kind.DICT and REST in value.payload:
        return table_of(dict(zip(value.payload, items, strict=True)))
    return refine(value, items=tuple(items))


def _order_of(key: Key) -> tuple[str, object]:
    return type(key).__name__, 0 if key is REST else key


def _join_tables(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """Join two dictionaries key by key; a key of one dictionary alone keeps its value."""
    one, other = items_of_table(a), items_of_table(b)
    if one is None or other is None:
        return AbstractValue(Kind.DICT, element=join(_joined_items(a), _joined_items(b)))
    if a.payload == b.payload:
        return with_items(a, [*map(join, one.values(), other.values())])
    return table_of(one | {key: join(one.get(key, BOTTOM), item) for key, item in other.items()})


def _join_inside(
    a: AbstractValue, b: AbstractValue
) -> tuple[AbstractValue | None, tuple[AbstractValue, ...] | None]:
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return None, tuple(map(join, a.items, b.items))
    if a.items is None and b.items is None and a.element is None and b.element is None:
        return None, None
    return join(_joined_items(a), _joined_items(b)), None


def _joined_items(value: AbstractValue) -> AbstractValue:
    if value.items is not None:
        return join_all(value.items)
    return value.element or BOTTOM
