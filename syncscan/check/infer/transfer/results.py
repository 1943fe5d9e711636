"""The result of a call of a known operation, according to its entry in the operation table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from syncscan.check.infer.domain.basic import (
    CPU_TENSOR,
    INT,
    NDARRAY,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    list_of,
    sequence,
)
from syncscan.check.infer.domain.lattice import join, join_all, via_of
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, AbstractValue, Via, fact, refine
from syncscan.check.infer.source.conventions import dtype_class
from syncscan.check.infer.transfer.conditions import Bound, in_form
from syncscan.check.infer.transfer.operands import NUMERIC, common_dtype, is_open_operand, items_in, together
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.shapes import array_in, common_fact, reduced, shaped, sized
from syncscan.model import ARRAYS, MASKS, ON_GPU, Confidence, Device, Kind
from syncscan.ops import Effect
from syncscan.ops.inferred import device_named

_FIXED = {
    "string": STRING,
    "ndarray": NDARRAY,
    "none": NONE,
    "unknown": BOTTOM,
    "cpu": CPU_TENSOR,
    "pinned": AbstractValue(Kind.TENSOR, Device.CPU, pinned=True),
    "pageable": AbstractValue(Kind.TENSOR, Device.CPU, pinned=False),
}
_COUNTS = frozenset({"size", "numel", "nelement", "dim", "ndimension"})  # whole numbers


def dtype_named(value: AbstractValue | None) -> Any:
    """Return the dtype class of an argument such as ``torch.int32`` or ``bool``; see `fact`."""
    if value is None:
        return None
    if value.kind is Kind.DTYPE:
        return fact(value, "dtype")
    if value.kind in {Kind.MODULE, Kind.STRING} and isinstance(value.payload, str):  # bool, np.uint8, "int64"
        return dtype_class(value.payload.rstrip("_")) or DIFFERS
    return None if value is BOTTOM else DIFFERS


_WHERE = {Device.CUDA: "on the GPU", Device.CPU: "in host memory"}
_DECIDED_LATER = "on a device chosen at run time, assumed to be the GPU"


def placed(value: AbstractValue, at: Point) -> tuple[Device, Confidence, Via | None]:
    """Return the device that a ``device=`` argument denotes, with its confidence and the deciding parameters.

    A device that only the run decides counts as the GPU, the purpose of such code.
    """
    if value.kind is Kind.UNION:
        value = _any_device(value, at)
    device = device_named(value)
    if at.trace is not None:
        at.origin(f"{{}} places the tensor {_WHERE.get(device, _DECIDED_LATER)}", is_placing=True)
    if device is Device.CUDA:
        return device, max(value.confidence, Confidence.INFERRED), value.via
    if device is Device.MIXED:  # on the GPU for some callers
        return device, Confidence.INFERRED, value.via
    if device is Device.UNKNOWN:
        if not at.never_runs() and at.assume():
            return Device.CUDA, Confidence.INFERRED, value.via
        return Device.UNKNOWN, Confidence.INFERRED, None
    return device, value.confidence, None


def _any_device(value: AbstractValue, at: Point) -> AbstractValue:
    """Return the join of the devices that several options denote; with one that only the run decides, the GPU is among them."""
    places = {device_named(option) for option in value.options}
    known = join_all([AbstractValue(Kind.DEVICE, place, value.confidence) for place in places])
    if known.device is not Device.UNKNOWN and Device.UNKNOWN in places and at.assume():
        known = join(known, AbstractValue(Kind.DEVICE, Device.CUDA, Confidence.INFERRED))
    return refine(known, kind=Kind.DEVICE, via=via_of(value.options))


_SEVERAL = frozenset({Device.MIXED, Device.OTHER})
_OPEN_DEVICE = AbstractValue(Kind.DEVICE, payload="open")
ON_BOTH = frozenset({Device.CUDA, Device.CPU})


def result_of(bound: Bound, at: Point) -> AbstractValue:
    """Return the value that a call of an operation returns."""
    out: AbstractValue | None = bound.get("out")
    if out is not None and out.kind is not Kind.NONE:
        return out
    bound = in_form(bound)
    base = _base(bound, at)
    if base.kind not in ARRAYS:
        return base
    if bound.operation.reduces:
        return _reduced(at, base, bound)
    return _counted(at, shaped(at, base, bound), bound)


def _counted(at: Point, base: AbstractValue, bound: Bound) -> AbstractValue:
    """Return the result tensor, or a tuple of result tensors with their dtypes."""
    typed = [_typed(at, base, bound, dtype) for dtype in bound.operation.dtypes()]
    count = bound.operation.count
    if count == 1:
        return typed[0]
    if count == 0:
        return list_of(typed[0], Kind.TUPLE)
    return sequence([*typed, *typed[-1:] * count][:count], Kind.TUPLE)


def _reduced(at: Point, base: AbstractValue, bound: Bound) -> AbstractValue:
    along = bound.get(bound.operation.reduces)
    if along is None:
        return _reduced_along(at, base, bound, NONE)
    if along is BOTTOM and not at.stays_open():  # `torch.max(a, b)` has one result, `torch.max(a, 0)` two
        is_one = bound.operation.count == 1
        return refine(_typed(at, base, bound, bound.operation.dtypes()[0]), ndim=None) if is_one else BOTTOM
    options = along.items if along.kind is Kind.UNION and along.items else (along,)
    return join_all([_reduced_along(at, base, bound, option) for option in options])


def _reduced_along(at: Point, base: AbstractValue, bound: Bound, along: AbstractValue) -> AbstractValue:
    """Return the result of a reduction of all dimensions, of some, or with another tensor."""
    if along.kind is Kind.NONE:
        return refine(_typed(at, base, bound, bound.operation.dtypes()[0]), ndim=0)
    if along.kind is Kind.TENSOR:  # torch.max(a, b)
        return _typed(at, base, bound, bound.operation.dtypes()[0])
    return _counted(at, refine(base, ndim=reduced(bound, along)), bound)


def _base(bound: Bound, at: Point) -> AbstractValue:
    result = bound.operation.result
    if result.startswith("arg "):
        return bound.get(result[4:]) or BOTTOM
    if result.startswith("a "):
        return AbstractValue(Kind.INSTANCE, payload=result[2:])
    if result in {"number", "list"}:
        number = INT if bound.operation.name.rpartition(".")[2] in _COUNTS else NUMBER
        return number if result == "number" else list_of(number)
    if result in {"gpu", "mapped"}:
        if _was_given_objects(bound):
            return _where_they_are(bound, at)
        at.origin("{} is on the GPU")
        return AbstractValue(Kind.TENSOR, Device.CUDA)
    if result in _FIXED:
        fixed = _FIXED[result]
        if fixed.kind in {Kind.NDARRAY, Kind.TENSOR}:
            return _array_like(fixed, bound, at)
        return fixed
    if result == "device":
        return _made(bound, at)
    moved = _moved(bound, at)
    if moved is not None:
        return moved
    if result == "view":
        return _first(at, bound)
    found = _with_operands(at, bound)
    selects = not _SELECTING.isdisjoint(bound.values)
    return refine(found, dtype=_dtype_of_selected(at, bound)) if selects else found


_SELECTING = frozenset({"index", "indices", "mask"})  # which select elements, of whatever dtype


def _dtype_of_selected(at: Point, bound: Bound) -> Any:
    """Return the dtype of a result whose elements come from operands that others select; see `fact`."""
    given = [each for name, values in bound.values.items() if name not in _SELECTING for each in values]
    return fact(together(at, given), "dtype")


def _was_given_objects(bound: Bound) -> bool:
    """Return whether a "gpu" result was measured with objects that hold GPU tensors, such as distributions."""
    operation = bound.operation
    copies = any(case.effect is Effect.UPLOAD for case in operation.blocks)
    return operation.measured and not operation.is_own and not copies and bool(operation.args)


def _where_they_are(bound: Bound, at: Point) -> AbstractValue:
    """Return a tensor on the device of the operands; unknown parameters are assumed on the GPU in the last stratum."""
    result = together(at, bound.operands())
    if result.device is not Device.UNKNOWN or "parameters" not in bound.values or not at.assume():
        return result
    at.origin("{} is on the device of the parameters, assumed to be the GPU")
    return refine(result, device=Device.CUDA, confidence=Confidence.INFERRED)


def _with_operands(at: Point, bound: Bound) -> AbstractValue:
    """Return a tensor on the device of the operands, except operands read as a number, such as a size."""
    result = together(at, bound.operands())
    if result.device not in ON_GPU:
        return _made_pinned(bound, result, at)
    read = {term.arg for case in bound.operation.blocks if case.effect is Effect.SCALAR for term in case.when}
    read.discard(next(iter(bound.values), ""))
    if not read:
        return result
    placing = [value for name, values in bound.values.items() if name not in read for value in values]
    return together(at, (*placing, *bound.rest))


def _array_like(fixed: AbstractValue, bound: Bound, at: Point) -> AbstractValue:
    """Return the host counterpart of an operand: of its dtype and shape, and for a view its memory.

    ``torch.Tensor()`` has no data, and makes a tensor without elements.
    """
    has_no_data = "data" in bound.operation.args and not bound.operands()
    if has_no_data or _is_given_nothing(bound, at):
        fixed = refine(fixed, count=0)
    given = bound.get("input") or bound.get("data") or BOTTOM
    source = array_in(given)
    if source.kind not in {Kind.TENSOR, Kind.NDARRAY}:
        return _of_no_array(fixed, given, at)
    pinned = fixed.pinned if fixed.pinned is not None else fact(source, "pinned")
    if source.kind is Kind.NDARRAY and (source.pinned or _may_be_pinned(source, at)):
        pinned = fact(source, "pinned")  # whose memory `from_numpy` shares
    if source.device is Device.CUDA:
        pinned = fixed.pinned or False
    return refine(fixed, dtype=fact(source, "dtype"), ndim=fact(source, "ndim"), pinned=pinned)


def _of_no_array(fixed: AbstractValue, given: AbstractValue, at: Point) -> AbstractValue:
    """Return the host counterpart of an operand that is no array, or of an unknown one: an array may be in pinned memory."""
    if given is BOTTOM and not at.stays_open():
        return refine(fixed, pinned=None) if fixed.pinned is False else fixed
    is_settled = fixed.kind is Kind.NDARRAY or fixed.pinned is not None
    return fixed if is_settled else refine(fixed, pinned=False)


def _may_be_pinned(source: AbstractValue, at: Point) -> bool:
    """Return whether the memory of an array may still turn out to be pinned."""
    return fact(source, "pinned") is not False and not at.stays_open()


def _first(at: Point, bound: Bound) -> AbstractValue:
    value = next(iter(bound.operands()), BOTTOM)
    if value.kind is Kind.UNION:
        value = array_in(value)
    if value.kind in ARRAYS:
        return refine(value, count=None)  # `expand` gives more
    return together(at, (value,))


def _made(bound: Bound, at: Point) -> AbstractValue:
    """Return the result of a constructor on its device argument, or on the default device."""
    device = bound.get("device")
    if device is None or (device.kind is Kind.NONE and at.stays_open()):
        data = bound.get("data") or bound.get("input")
        if data is not None and data.kind is Kind.TENSOR and data.device is not Device.UNKNOWN:
            made: AbstractValue = data
            return made
        device = _default_device(at)
    elif device.kind is Kind.NONE:
        device = _OPEN_DEVICE  # beside which another path may name one
    if device is None:
        place, confidence, via = Device.CPU, Confidence.PROVED, None
    elif device is _OPEN_DEVICE:
        place, confidence, via = Device.UNKNOWN, Confidence.PROVED, None
    else:
        place, confidence, via = placed(device, at)
    if place is Device.CPU:
        at.origin("{} creates the tensor in host memory")
    pinned = _pinned(bound, at) if place is Device.CPU else DIFFERS if place in _SEVERAL else None
    ndim, count = sized(at, bound), _elements(bound, at)
    made = AbstractValue(Kind.TENSOR, place, confidence, count=count, via=via if place in ON_GPU else None)
    return refine(made, ndim=ndim, pinned=pinned)


def _default_device(at: Point) -> AbstractValue | None:
    """Return the default device of a constructor, which anything may set; None for the CPU, where nothing does."""
    if at.default_device is not BOTTOM:
        return at.default_device
    return None if at.stays_open() else _OPEN_DEVICE


def _pinned(bound: Bound, at: Point) -> Any:
    """Return whether a constructor pins its memory: `DIFFERS` where only the run decides, None where not known yet."""
    pin = bound.get("pin_memory")
    if pin is BOTTOM and not at.stays_open():
        return None
    if pin is None or pin.payload is False or pin.kind is Kind.NONE:
        return False
    return True if pin.payload is True else DIFFERS


def _made_pinned(bound: Bound, made: AbstractValue, at: Point) -> AbstractValue:
    """Return the result of a constructor; one on the host is in pinned memory where the constructor pins its memory."""
    pinned = _pinned(bound, at) if made.device is Device.CPU else False
    return refine(made, pinned=pinned) if pinned is not False else made


def _elements(bound: Bound, at: Point) -> int | None:
    """Return the number of elements from a constant size or literal data, or None."""
    sizes = bound.values.get("size")
    if _is_given_nothing(bound, at):
        return 0
    given = sizes or bound.values.get("data", ())
    if any(map(is_open_operand, given)) and not at.stays_open():
        return 0
    if not sizes:
        return _written_out(bound.get("data") or BOTTOM)
    if len(sizes) == 1 and sizes[0].kind in {Kind.TUPLE, Kind.LIST}:
        sizes = sizes[0].items or ()
    known = [size.payload for size in sizes if isinstance(size.payload, int)]
    if 0 in known:
        return 0
    return math.prod(known) if known and len(known) == len(sizes) else None


def _is_given_nothing(bound: Bound, at: Point) -> bool:
    """Return whether the data of a call is the literal ``[]``; a variable with an empty list may have been filled since."""
    if at.site is None or "data" not in bound.values:
        return False
    return not at.site.empty_data.isdisjoint({0, "data"})


def _written_out(data: AbstractValue) -> int | None:
    if data.kind is Kind.NUMBER:
        return 1
    if data.kind not in {Kind.LIST, Kind.TUPLE} or not data.items:
        return None
    counts = [_written_out(item) for item in data.items]
    return None if None in counts else sum(counts)  # type: ignore[arg-type]  # none is None here


def _moved(bound: Bound, at: Point) -> AbstractValue | None:
    """Return the result where an operation that usually follows its operands has a ``device`` argument; else None."""
    device = bound.get("device")
    if device is None or (device.kind is Kind.NONE and at.stays_open()):
        return None
    receiver = bound.get("input") or BOTTOM
    if device.kind is Kind.NONE:  # beside which another path may name one
        return _anywhere(receiver)
    if device.kind is Kind.TENSOR:  # x.to(other)
        dtype = fact(device, "dtype")
        return _at(at, bound, receiver, device.device, device.confidence, device.via, dtype=dtype)
    if device.kind is Kind.DTYPE:  # x.to(dtype)
        return _receiver_as(receiver, fact(device, "dtype"))
    if device.kind is Kind.UNKNOWN:
        if receiver.kind is Kind.TENSOR and receiver.device is Device.CUDA:
            return receiver if device is not BOTTOM or at.stays_open() else _anywhere(receiver)
        if at.site is not None and at.site.names_dtype:
            return _receiver_as(receiver, None)
    place, confidence, via = placed(device, at)
    put = _at(at, bound, receiver, place, confidence, via, dtype=fact(receiver, "dtype"))
    return _made_pinned(bound, put, at)


def _anywhere(receiver: AbstractValue) -> AbstractValue:
    """Return a tensor that an unknown argument may still move or convert."""
    is_tensor = receiver.kind is Kind.TENSOR
    return refine(receiver, device=Device.UNKNOWN, via=None, dtype=None, pinned=None) if is_tensor else TENSOR


def _receiver_as(receiver: AbstractValue, dtype: Any) -> AbstractValue:
    return refine(receiver if receiver.kind is Kind.TENSOR else TENSOR, dtype=dtype)


def _is_pinned_copy(bound: Bound, receiver: AbstractValue) -> Any:
    """Return whether a copy to the host is in pinned memory: one of the GPU with ``non_blocking=True`` is (torch 2.11, H100)."""
    asked = bound.get("non_blocking")
    if asked is None or asked.payload is False:
        return False
    if receiver.kind is not Kind.TENSOR or receiver.device is Device.UNKNOWN:
        return None
    return True if asked.payload is True and receiver.device is Device.CUDA else DIFFERS


def _at(
    at: Point,
    bound: Bound,
    receiver: AbstractValue,
    place: Device,
    confidence: Confidence,
    via: Via | None,
    *,
    dtype: Any,
) -> AbstractValue:
    if receiver.kind is Kind.TENSOR and receiver.device is place:
        if at.trace is not None:
            at.trace.origins.clear()
        return refine(receiver, dtype=dtype, confidence=max(receiver.confidence, confidence))
    is_tensor = receiver.kind is Kind.TENSOR
    ndim, count = (fact(receiver, "ndim"), receiver.count) if is_tensor else (None, None)
    pinned = (
        _is_pinned_copy(bound, receiver) if place is Device.CPU else DIFFERS if place in _SEVERAL else None
    )
    via = via if place in ON_GPU else None
    put = AbstractValue(Kind.TENSOR, place, confidence, count=count, via=via)
    return refine(put, dtype=dtype, ndim=ndim, pinned=pinned)


def _typed(at: Point, base: AbstractValue, bound: Bound, dtype: str) -> AbstractValue:
    """Return a tensor of the result with the dtype of the call or of the operation."""
    if "dtype" in bound.values:
        return refine(base, dtype=dtype_named(bound.get("dtype")))
    if dtype == "input":
        return refine(base, dtype=_dtype_of_first(at, base, bound.operands()))
    if dtype == "numbers":
        operands = bound.operands()
        is_open = BOTTOM in operands and not at.stays_open()
        return refine(
            base, dtype=None if is_open else common_dtype([v for v in operands if v.kind in NUMERIC])
        )
    if dtype == "sum":
        return refine(base, dtype="int" if base.dtype in MASKS else fact(base, "dtype"))
    if dtype:
        return refine(base, dtype=dtype)
    if bound.operation.result == "device" and fact(base, "dtype") is None:
        return refine(base, dtype=_dtype_of_data(bound.get("data")))
    return base


def _dtype_of_first(at: Point, base: AbstractValue, operands: Sequence[AbstractValue]) -> Any:
    """Return the dtype of the first array among operands; see `fact`."""
    for operand in operands:
        if operand is BOTTOM and not at.stays_open():
            return None
        if (first := array_in(operand)) is not BOTTOM:
            return common_fact(first, "dtype")
    return fact(base, "dtype")


def _dtype_of_data(data: AbstractValue | None) -> Any:
    if data is None:
        return None
    if data.kind in {Kind.LIST, Kind.TUPLE}:
        inside = {_dtype_of_data(item) for item in items_in(data)}
        return None if None in inside or not inside else inside.pop() if len(inside) == 1 else DIFFERS
    return fact(data, "dtype") if data.kind in NUMERIC or data.kind is Kind.UNKNOWN else DIFFERS
