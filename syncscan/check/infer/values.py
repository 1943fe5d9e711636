"""Making, joining and refining values.

The lattice: `UNKNOWN` is the bottom (nothing is known yet, or nothing can be), so the join of a known
value and an unknown one is the known one. Different places join to `Device.MIXED`, different kinds to
a union, and what joins too many kinds is `ANYTHING`, which stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from syncscan.model import UNKNOWN, Confidence, Device, Evidence, Kind, Value

ANYTHING = Value(Kind.UNKNOWN, payload="anything")
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

_MOST_OPTIONS = 6
_MOST_ITEMS = 16
_DEEPEST = 3


def constant(value: object) -> Value:
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
    """How many containers are nested in one another."""
    inside = [item for item in (value.element, *(value.items or ())) if item is not None]
    return 1 + max(map(depth, inside)) if inside else 0


def holds_gpu(value: Value) -> bool:
    """Whether a value, or anything in it, is on the GPU on some path; a device that names the GPU counts."""
    if value.device is Device.CUDA or value.device is Device.MIXED:
        return True
    if value.kind is Kind.STRING:
        return isinstance(value.payload, str) and value.payload.startswith("cuda")
    if value.items is not None:
        return any(map(holds_gpu, value.items))
    return value.element is not None and holds_gpu(value.element)


def as_tensor(value: Value) -> Value:
    """A value in a place where only a tensor can be: what was moved to the GPU turns out to be one."""
    return replace(value, kind=Kind.TENSOR) if value.kind is Kind.MOVED else value


def parts_of(value: Value, levels: int = 2) -> Iterator[Value]:
    """A value, or what it consists of: the options of a union, what a container holds, not what is nested deeper."""
    inside = value.items if value.items is not None else (value.element,) if value.element else None
    if inside is None or not levels:
        yield value
    else:
        for part in inside:
            yield from parts_of(part, levels - 1)


def evidence_in(value: Value) -> Iterator[Evidence | None]:
    """For each part that is or may be on the GPU, why; None where nothing is noted."""
    return (part.evidence for part in parts_of(value) if part.device in {Device.CUDA, Device.MIXED})


def moved(value: Value, device: Device) -> Value:
    """The value with every part that is or may be on the GPU elsewhere."""
    if value.kind is Kind.UNION:
        return union(tuple(moved(option, device) for option in value.items or ()))
    if value.items is not None:
        return replace(value, items=tuple(moved(item, device) for item in value.items))
    if value.element is not None:
        return replace(value, element=moved(value.element, device))
    if value.device in {Device.CUDA, Device.MIXED}:
        return replace(value, device=device, evidence=None)
    return value


def list_of(element: Value, kind: Kind = Kind.LIST) -> Value:
    """A container of unknown length."""
    return Value(kind, element=element if depth(element) < _DEEPEST else ANYTHING)


def sequence(items: list[Value], kind: Kind) -> Value:
    """A tuple or list literal: keeps its items if it is short."""
    kept = tuple(item if depth(item) < _DEEPEST else ANYTHING for item in items)
    if len(kept) > _MOST_ITEMS:
        return Value(kind, element=join_all(kept))
    return Value(kind, items=kept)


def slice_of(bounds: Iterable[Value]) -> Value:
    """A slice, with its bounds if one of them is more than a number; no bound is a container, so nothing nests."""
    kept = tuple(ANYTHING if depth(bound) > 1 else bound for bound in bounds)
    return (
        SLICE if {bound.kind for bound in kept} <= {Kind.NUMBER, Kind.NONE} else Value(Kind.SLICE, items=kept)
    )


def element_of(value: Value) -> Value:
    """What iterating over a value, or indexing it with something unknown, yields."""
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
    if all(getattr(value, name) == new for name, new in changes.items()):
        return value
    return replace(value, **changes)  # type: ignore[arg-type]


def inferred(value: Value) -> Value:
    """The value as known on the other side of a call, an attribute or a return.

    It was followed through the project, so it is proved no more; and which number or text it was is
    forgotten, for the other side sees many.
    """
    kind = value.kind
    if kind is Kind.UNION:
        return union(tuple(map(inferred, value.items or ())))
    if kind is Kind.NUMBER or kind is Kind.STRING:
        return _forgotten(value)
    if value.items is not None:
        return replace(value, items=tuple(map(inferred, value.items)))
    if value.confidence is Confidence.PROVED and kind in _PLACED:
        return replace(value, confidence=Confidence.INFERRED)
    return value


def _forgotten(value: Value) -> Value:
    payload = value.payload
    if payload is None or payload is True or payload is False:
        return value
    if value.kind is Kind.STRING:
        return value if str(payload).partition(":")[0] in {"cuda", "cpu", "meta"} else STRING
    return INT if value.dtype == "int" else NUMBER


_HOLDERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET})
_PLACED = frozenset({Kind.TENSOR, Kind.MOVED, Kind.DEVICE, Kind.UNION})


def explained(value: Value, path: str, line: int, text: str) -> Value:
    """The value of something placed on the GPU, or that holds such, with one more step of evidence."""
    if value.kind is Kind.UNION:
        return union(tuple(explained(item, path, line, text) for item in value.items or ()))
    if value.kind in _HOLDERS:
        parts = value.items if value.items is not None else (value.element or UNKNOWN,)
        if not any(part.device in {Device.CUDA, Device.MIXED} for part in parts):
            return value
        parts = tuple(explained(part, path, line, text) for part in parts if part.kind not in _HOLDERS)
        if value.items is None:
            return replace(value, element=parts[0])
        return replace(value, items=parts) if len(parts) == len(value.items) else value
    if value.device not in {Device.CUDA, Device.MIXED} or value.kind not in _PLACED:
        return value
    parent = value.evidence
    if parent is not None and (parent.path, parent.line) == (path, line):
        return value
    if parent is not None and len(parent.chain()) >= 6:
        return value
    return replace(value, evidence=Evidence(path, line, text, parent))


def join_all(values: object) -> Value:
    """The join of any number of values."""
    result = UNKNOWN
    for value in values:  # type: ignore[attr-defined]
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
