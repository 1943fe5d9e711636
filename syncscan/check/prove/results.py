"""The results of operations of torch, as far as the operation table and its operands show."""

from __future__ import annotations

import math
from dataclasses import replace

from syncscan.check.infer.domain.value import fact
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.shapes import WITHOUT_DIMENSIONS
from syncscan.check.prove.conditions import verdict_of
from syncscan.check.prove.values import (
    HOST,
    NO_TENSOR,
    NONE,
    NUMBER,
    STRING,
    TOP,
    AbstractValue,
    list_of,
    refine,
    sequence,
    tensor,
    tensors_of,
)
from syncscan.model import ARRAYS, ON_GPU, Device, Kind
from syncscan.ops.dimensions import relative
from syncscan.ops.inferred import device_named
from syncscan.ops.table import Operation

_DATA = frozenset({"data", "input", "obj"})  # operands whose place a tensor made of them inherits
_FIXED: dict[str, tuple[Device, bool | None]] = {
    "cpu": (Device.CPU, None),
    "pinned": (Device.CPU, True),
    "pageable": (Device.CPU, False),
    "gpu": (Device.CUDA, None),
    "mapped": (Device.CUDA, None),
}
_NAMING = frozenset({Kind.DEVICE, Kind.STRING, Kind.NUMBER})
_SIMPLE = {
    "number": NUMBER,
    "string": STRING,
    "none": NONE,
    "ndarray": AbstractValue(Kind.NDARRAY),
    "list": list_of(NO_TENSOR),
    "unknown": TOP,
}

# Operations that give numbers of Python, or lists of them.
_LISTS_OF_NUMBERS = frozenset(
    {"torch.Tensor.tolist", "torch.broadcast_shapes", "torch.cuda.get_device_capability"}
)


def result_of(bound: Bound, *, is_starred: bool = False) -> AbstractValue:
    """Return the result of an operation; with a star of unknown length among the arguments, of no known size."""
    out = bound.get("out")
    if out is not None and out is not NONE:
        return out if out.kind is Kind.TENSOR else TOP
    operation = _in_form(bound)
    if operation is None:
        return TOP
    kind = operation.result
    if operation.name in _LISTS_OF_NUMBERS:
        return list_of(HOST)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind.startswith("arg "):
        found = bound.get(kind[4:])
        return found if found is not None else TOP
    if kind.startswith("a "):
        return AbstractValue(Kind.INSTANCE, payload=kind[2:])
    return _counted(operation, bound, None if is_starred else _elements(operation, bound))


def _in_form(bound: Bound) -> Operation | None:
    """Return the entry for this form of a call; None where the form is open."""
    for form in bound.operation.forms:
        verdict = verdict_of(form.when, bound)
        if verdict is None:
            return None
        if verdict:
            return replace(bound.operation, **dict(form.fields))  # type: ignore[arg-type]
    return bound.operation


def _counted(operation: Operation, bound: Bound, elements: int | None) -> AbstractValue:
    """Return a tensor, or as many tensors as a result has."""
    place, pinned = _place(operation, bound)
    ndim = _ndim(operation, bound)
    made = [
        refine(tensor(place, _dtype(each, bound), ndim, pinned), count=elements)
        for each in operation.dtypes()
    ]
    count = operation.count
    whole = made[0] if count == 1 else sequence([*made, *made[-1:] * count][:count], Kind.TUPLE)
    if count == 0:
        whole = list_of(made[0], Kind.TUPLE)
    if not operation.reduces:
        return whole
    along = bound.get(operation.reduces)
    alone = tensor(place, _dtype(operation.dtypes()[0], bound), 0)
    if along is None or along is NONE:
        return alone
    if along.kind in {Kind.NUMBER, Kind.TUPLE, Kind.LIST} or count == 1:
        return _without_ndim(whole)
    return _without_ndim(made[0]) if along.kind is Kind.TENSOR else TOP


def _elements(operation: Operation, bound: Bound) -> int | None:
    """Return the number of elements of a new tensor of a constant size; None for others."""
    sizes = bound.values.get("size", ()) if operation.result == "device" else ()
    if len(sizes) == 1 and sizes[0].kind in {Kind.TUPLE, Kind.LIST}:
        sizes = sizes[0].items or ()
    known = [size.payload for size in sizes if size.kind is Kind.NUMBER and isinstance(size.payload, int)]
    return math.prod(known) if known and len(known) == len(sizes) else None


def _without_ndim(value: AbstractValue) -> AbstractValue:
    if value.kind is Kind.TENSOR:
        return tensor(value.device, value.dtype, None, value.pinned)
    return sequence([*map(_without_ndim, value.items)], value.kind) if value.items else value


def _place(operation: Operation, bound: Bound) -> tuple[Device, bool | None]:
    """Return the place of a result, and whether the memory is pinned."""
    kind = operation.result
    if kind in _FIXED:
        return _FIXED[kind]
    device = bound.get("device")
    if device is not None and device is not NONE and device.kind is not Kind.DTYPE:
        return _named(device), _pinned(bound)
    operands = bound.operands()
    if operation.name == "torch.Tensor.type" and any(each.kind is not Kind.DTYPE for each in operands[1:]):
        return Device.MIXED, None  # a name such as "torch.cuda.FloatTensor" says the place too
    if kind == "view":
        return _together(operands[:1]), operands[0].pinned if operands else None
    if kind == "device":
        found = tensors_of(_data_of(bound))
        return (_together(found) if found else Device.CPU), _pinned(bound)
    return _together(operands), None


def _data_of(bound: Bound) -> list[AbstractValue]:
    return [value for name in _DATA for value in bound.values.get(name, ())]


def _pinned(bound: Bound) -> bool | None:
    pin = bound.get("pin_memory")
    if pin is None or pin is NONE:
        return False
    return bool(pin.payload) if pin.payload is not None else None


def _named(device: AbstractValue) -> Device:
    """Return the place that a device argument names, which may be a tensor."""
    if device.kind is Kind.TENSOR:
        return device.device
    if device.kind is Kind.UNION:
        found = {_named(option) for option in device.options}
        return found.pop() if len(found) == 1 else Device.MIXED
    place = device_named(device) if device.kind in _NAMING else Device.UNKNOWN
    return Device.MIXED if place is Device.UNKNOWN else place


def _together(values: tuple[AbstractValue, ...] | list[AbstractValue]) -> Device:
    """Return the place of a result of several operands."""
    found = tensors_of(values)
    places = {each.device if each.kind is Kind.TENSOR else Device.MIXED for each in found}
    if not places:
        return Device.MIXED
    if Device.CUDA in places:
        return Device.CUDA
    return Device.CPU if places == {Device.CPU} else Device.MIXED if places & ON_GPU else Device.OTHER


def _dtype(said: str, bound: Bound) -> str | None:
    """Return the dtype of a result; None where the dtype is open."""
    given = bound.get("dtype")
    if given is not None and given is not NONE:
        return given.dtype if given.kind is Kind.DTYPE else None
    if said in {"bool", "uint8", "int", "float"}:
        return said
    operands = bound.operands()
    unnamed = [each for each in operands if each.kind is Kind.DTYPE]  # ``x.to(torch.int64)``
    device = bound.get("device")
    if unnamed or (device is not None and device.kind in {Kind.UNKNOWN, Kind.UNION, Kind.TENSOR}):
        return unnamed[0].dtype if len(unnamed) == 1 else None
    return _of_operands(said, bound, operands)


def _of_operands(said: str, bound: Bound, operands: tuple[AbstractValue, ...]) -> str | None:
    """Return the dtype that the operands give a result."""
    first = _of(operands[0]) if operands else None
    if said == "numbers":
        return _promoted([_of(each) for each in operands if each.kind is Kind.NUMBER])
    if said == "sum":
        return "int" if first == "bool" else first
    if said == "input" or bound.operation.result == "view":
        return first
    return _of_all(bound, operands)


def _of_all(bound: Bound, operands: tuple[AbstractValue, ...]) -> str | None:
    """Return the dtype that all operands together give a result."""
    if bound.operation.result == "device":
        return _same([_of(each) if each.kind is Kind.TENSOR else None for each in _data_of(bound)])
    known = [_of(each) for each in operands if each.kind in {Kind.TENSOR, Kind.NUMBER}]
    if bound.operation.name.rpartition(".")[2] in _BY_ELEMENT:
        return _promoted(known)
    return _same([_of(option) for each in operands for option in each.options if option.kind in ARRAYS])


def _promoted(known: list[str | None]) -> str | None:
    """Return the dtype of an element-wise result: one number as operand excludes a mask."""
    return next((each for each in ("float", "int") if each in known), _same(known))


def _same(known: list[str | None]) -> str | None:
    """Return the common value of all, or None."""
    return known[0] if known and len(set(known)) == 1 else None


def _of(value: AbstractValue) -> str | None:
    found = fact(value, "dtype")
    return found if isinstance(found, str) else None


_BY_ELEMENT = ("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__", "__and__", "__or__",
               "__xor__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__neg__", "__invert__")  # fmt: skip


def _ndim(operation: Operation, bound: Bound) -> int | None:
    """Return the number of dimensions of a result, where the operands determine the number."""
    said = operation.ndim
    if isinstance(said, int):
        return said
    decides = relative(said)
    if decides is None:
        return None
    operands = decides.decisive([each for each in bound.operands() if each.kind not in WITHOUT_DIMENSIONS])
    if not operands or any(each.kind is not Kind.TENSOR for each in operands):
        return None
    dims = [each.ndim for each in operands]
    return None if None in dims else max(max(dims) + decides.more, 0)
