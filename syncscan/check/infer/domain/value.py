"""Abstract values, interned: equal values are one object, so `is` compares them.

A value has no provenance. `syncscan.check.infer.solve.provenance` finds the reasons afterwards, for findings
only.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, cast

from syncscan.model import ARRAYS, MASKS, ON_GPU, Confidence, Device, Kind

Via = frozenset[str]
BY_PAYLOAD: Final = frozenset({Kind.INSTANCE, Kind.CLASS, Kind.FUNCTION, Kind.MODULE})  # a union has several


class Differs(Enum):
    """The value of a dtype, dimensions or pinned memory that differs between paths."""

    DIFFERS = "differs"


DIFFERS = Differs.DIFFERS


class AbstractValue:
    """One element of the domain; see `syncscan.model.Value` for the fields that rules see too.

    ``via`` names the parameters of the function at hand that put the value on the GPU; "" among them stands
    for any other reason. ``via`` is None where no parameter does. A device has it wherever it is, since one that only
    the run decides counts as the GPU later.

    A tensor or device whose device is unknown has no confidence; the field is then that of no evidence, `PROVED`.
    A dtype, dimensions and pinned memory are None as long as no path gives them. ``differs`` has their bits
    where paths differ, and the field is then None for good.
    """

    __slots__ = (
        "confidence", "count", "depth", "device", "differs", "dtype", "element", "holds_gpu", "holds_unplaced", "is_gpu", "is_wide",
        "items", "kind", "ndim", "options", "payload", "pinned", "slot", "via",
    )  # fmt: skip

    # None of these ever changes.
    kind: Kind
    device: Device
    confidence: Confidence
    pinned: bool | None
    dtype: str | None
    ndim: int | None
    payload: Any
    items: tuple[AbstractValue, ...] | None
    element: AbstractValue | None
    count: int | None
    via: Via | None
    differs: int
    options: tuple[AbstractValue, ...]
    is_gpu: bool
    is_wide: bool  # one of several functions, classes, modules or objects
    holds_gpu: bool
    holds_unplaced: bool  # a tensor of unknown device
    slot: tuple[int, str] | None  # see `syncscan.check.infer.domain.lattice`, which sets it
    depth: int  # of nested containers; captured values of callables and the options of a union add none

    def __new__(
        cls,
        kind: Kind,
        device: Device = Device.UNKNOWN,
        confidence: Confidence = Confidence.PROVED,
        pinned: bool | None = None,
        dtype: str | None = None,
        ndim: int | None = None,
        payload: object = None,
        items: tuple[AbstractValue, ...] | None = None,
        element: AbstractValue | None = None,
        count: int | None = None,
        via: Via | None = None,
        differs: int = 0,
    ) -> AbstractValue:
        """Return the interned value with these fields."""
        if device is Device.UNKNOWN and kind in _PLACED:
            confidence = Confidence.PROVED
        key = (kind, device, confidence, pinned, dtype, ndim, payload, items, element, count, via, differs)
        known = _INTERNED.get(key)
        if known is not None:
            return known
        self = cast("Any", object.__new__(cls))
        self.kind = kind
        self.device = device
        self.confidence = confidence
        self.pinned = pinned
        self.dtype = dtype
        self.ndim = ndim
        self.payload = payload
        self.items = items
        self.element = element
        self.count = count
        self.via = via
        self.differs = differs
        if kind is Kind.UNION:
            options = tuple([each for each in items or () if each.kind is not Kind.NONE])
            self.options = options
            self.is_gpu = bool(options) and all(each.is_gpu for each in options)
            self.is_wide = sum([each.kind in BY_PAYLOAD for each in options]) > 1
        else:
            self.is_wide = False
            self.options = (self,)
            self.is_gpu = kind is Kind.TENSOR and device in ON_GPU
        self.holds_gpu = _holds_gpu(self)
        self.slot = None
        self.depth, self.holds_unplaced = _nested(self)
        _INTERNED[key] = self
        return cast("AbstractValue", self)

    def __reduce__(self) -> tuple[type[AbstractValue], tuple[object, ...]]:
        """Return the constructor and its arguments, so that a copy is the same object."""
        return AbstractValue, fields_of(self)

    def __repr__(self) -> str:
        parts = [
            f"{name}={each!r}" for name, each in zip(_FIELDS[1:], fields_of(self)[1:], strict=True) if each
        ]
        return f"<{self.kind.value} {' '.join(parts)}>"

    @property
    def is_cpu_tensor(self) -> bool:
        """True if the value is certainly a tensor in host memory."""
        if self.kind is Kind.TENSOR:
            return self.device is Device.CPU
        return self.kind is Kind.UNION and bool(self.options) and all(o.is_cpu_tensor for o in self.options)

    @property
    def is_mask(self) -> bool:
        """True if the value selects elements as an index: a tensor or array of dtype bool or uint8."""
        return bool(self.options) and all(o.dtype in MASKS and o.kind in ARRAYS for o in self.options)

    @property
    def is_host_data(self) -> bool:
        """True if the value is certainly in host memory: a number, a list of numbers, an array, a CPU tensor."""
        return bool(self.options) and all(_is_host_option(o) for o in self.options)


_PLACED: Final = frozenset({Kind.TENSOR, Kind.MOVED, Kind.DEVICE, Kind.UNION})
_INTERNED: Final[dict[tuple[object, ...], AbstractValue]] = {}
_FIELDS: Final = (
    "kind", "device", "confidence", "pinned", "dtype", "ndim", "payload", "items", "element", "count", "via", "differs",
)  # fmt: skip
DIFFERENCES: Final = {"dtype": 1, "ndim": 2, "pinned": 4}
_PLACES: Final = {name: place for place, name in enumerate(_FIELDS)}


def fields_of(value: AbstractValue) -> tuple[Any, ...]:
    """Return the fields of a value in the order of its constructor."""
    return (
        value.kind, value.device, value.confidence, value.pinned, value.dtype, value.ndim, value.payload, value.items,
        value.element, value.count, value.via, value.differs,
    )  # fmt: skip


def fact(value: AbstractValue, name: str) -> Any:
    """Return a dtype, dimensions or pinned memory: None where not known yet, `DIFFERS` where paths differ."""
    return DIFFERS if value.differs & DIFFERENCES[name] else getattr(value, name)


def refine(value: AbstractValue, **changes: object) -> AbstractValue:
    """Return the value with other fields; `DIFFERS` is valid for a dtype, dimensions or pinned memory."""
    fields: list[Any] = [
        value.kind, value.device, value.confidence, value.pinned, value.dtype, value.ndim, value.payload, value.items,
        value.element, value.count, value.via, value.differs,
    ]  # fmt: skip
    for name, new in changes.items():
        fields[_PLACES[name]] = new
        if name in DIFFERENCES:
            fields[-1] &= ~DIFFERENCES[name]
            if new is DIFFERS:
                fields[_PLACES[name]] = None
                fields[-1] |= DIFFERENCES[name]
    return AbstractValue(*fields)


def _holds_gpu(value: AbstractValue) -> bool:
    """Return whether a value or its contents are on the GPU on some path; a device that names the GPU counts."""
    if value.device in ON_GPU:
        return True
    if value.kind is Kind.STRING:
        return isinstance(value.payload, str) and value.payload.startswith("cuda")
    if value.items is not None:
        return any(each.holds_gpu for each in value.items)
    return value.element is not None and value.element.holds_gpu


def _nested(value: AbstractValue) -> tuple[int, bool]:
    """Return the depth of a value, and whether it holds a tensor of unknown device."""
    inside = (value.element,) if value.items is None and value.element is not None else value.items
    if inside is None:
        return 0, value.kind is Kind.TENSOR and value.device is Device.UNKNOWN
    depth = max([each.depth for each in inside], default=0) + (value.kind is not Kind.UNION)
    return depth, any(each.holds_unplaced for each in inside)


def _is_host_option(value: AbstractValue) -> bool:
    if value.kind is Kind.TENSOR:
        return value.device is Device.CPU
    if value.kind is Kind.LIST or value.kind is Kind.TUPLE:
        inside = value.items if value.items is not None else (value.element,)
        return all(item is None or item.kind is Kind.UNKNOWN or item.is_host_data for item in inside)
    return value.kind is Kind.NUMBER or value.kind is Kind.NDARRAY


BOTTOM: Final = AbstractValue(Kind.UNKNOWN)
TOP: Final = AbstractValue(Kind.UNKNOWN, payload="anything")
