"""The device, dtype and dimensions of a result, from the operands that share one device."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from syncscan.check.infer.domain.basic import (
    NUMBER,
    TENSOR,
    is_module,
)
from syncscan.check.infer.domain.lattice import join, join_all, via_of
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, AbstractValue, fact, refine
from syncscan.check.infer.transfer.point import Point
from syncscan.model import ARRAYS, MASKS, ON_GPU, Confidence, Device, Kind

NUMERIC = ARRAYS | {Kind.NUMBER}


def together(at: Point, operands: Iterable[AbstractValue]) -> AbstractValue:
    """Return a result on the common device of several operands: on the GPU if any operand is.

    Dimensions and dtype stay open as long as an operand is unknown.
    """
    operands = [*operands]
    tensors = [tensor for operand in operands for tensor in tensors_in(operand)]
    waits = any(map(is_open_operand, operands)) and not at.stays_open()
    if not tensors:
        return _WAITING if waits else TENSOR
    best = tensors[0]
    for tensor in tensors[1:]:
        if _rank(tensor) > _rank(best):
            best = tensor
    there = _at_place_of(at, best, tensors, waits=waits)
    if waits:
        return refine(there, pinned=None, count=0)
    return refine(there, ndim=most_dimensions(tensors), dtype=common_dtype(tensors))


def _at_place_of(
    at: Point, best: AbstractValue, tensors: Sequence[AbstractValue], *, waits: bool
) -> AbstractValue:
    """Return a tensor on the device of the best operand, or on an unknown device while another operand may decide."""
    place = best.device
    if place in ON_GPU and (place is Device.MIXED or best.confidence is not Confidence.PROVED):
        is_open = any(each.device is Device.UNKNOWN for each in tensors)
        waits_for_place = waits or (is_open and not at.stays_open())
    else:
        waits_for_place = waits and place is not Device.CUDA
    if waits_for_place or place is Device.UNKNOWN:
        return TENSOR
    via = via_of(tensors) if place in ON_GPU else None
    sure = best.confidence
    if place is Device.CUDA:
        sure = max([each.confidence for each in tensors if each.device in ON_GPU])
    there = AbstractValue(Kind.TENSOR, place, sure, via=via)
    return refine(there, pinned=DIFFERS if place in ON_GPU else False)


_WAITING = AbstractValue(Kind.TENSOR, count=0)  # below every tensor


def is_open_operand(operand: AbstractValue) -> bool:
    """Return whether an operand, or an item in it, is unknown; of several options, one that is known settles it."""
    if operand.kind is Kind.UNION:
        return all(map(is_open_operand, operand.options))
    if operand.kind in {Kind.LIST, Kind.TUPLE}:
        return any(map(is_open_operand, items_in(operand)))
    return operand is BOTTOM


def items_in(value: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return the items of a container, or the join of its elements."""
    if value.items is not None:
        return value.items
    return () if value.element is None else (value.element,)


def most_dimensions(values: Sequence[AbstractValue]) -> Any:
    """Return the most dimensions of any of some arrays; see `fact`."""
    dims = [fact(value, "ndim") for value in values]
    return None if None in dims else DIFFERS if DIFFERS in dims else max(dims)


_WIDER = {"bool": 0, "uint8": 1, "int": 2, "float": 3}


def common_dtype(values: Sequence[AbstractValue]) -> Any:
    """Return the widest of several dtypes if all are known; see `fact` for None and `DIFFERS`."""
    dtypes = [fact(value, "dtype") for value in values]
    if None in dtypes or DIFFERS in dtypes:
        return None if None in dtypes else DIFFERS
    return max(dtypes, key=_WIDER.__getitem__, default=None)


_RANKS = {Device.CUDA: 4, Device.MIXED: 3, Device.UNKNOWN: 2, Device.OTHER: 1, Device.CPU: 0}


def _rank(value: AbstractValue) -> tuple[int, int]:
    """Return the certainty of an operand's device, which holds for all operands."""
    return _RANKS[value.device], value.confidence


@functools.cache
def tensors_in(operand: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return the tensors in an operand: itself, or the items of a container; of several options, the join of them."""
    if operand.kind is Kind.TENSOR:
        return (operand,)
    if operand.kind is Kind.INSTANCE and operand.device is not Device.UNKNOWN:
        if operand.device not in ON_GPU and is_module(operand):
            return ()  # a module without a place is no operand
        return (AbstractValue(Kind.TENSOR, operand.device, operand.confidence, via=operand.via),)
    if operand.kind is Kind.UNION:
        tensors = [tensor for option in operand.options for tensor in tensors_in(option)]
        return (join_all(tensors),) if tensors else ()
    if operand.kind in {Kind.LIST, Kind.TUPLE}:
        inside = [*(operand.items or ()), *([operand.element] if operand.element is not None else [])]
        return tuple([tensor for item in inside for tensor in tensors_in(item)])
    return ()


def tensor_in(value: AbstractValue) -> AbstractValue:
    """Return the tensor of a union with containers, texts and objects, where only a tensor or a number is accepted."""
    if value.kind is not Kind.UNION:
        return value
    kept = [option for option in value.options if option.kind in NUMERIC]
    return join_all(kept) if kept else value


def tensors_alone_in(value: AbstractValue) -> AbstractValue:
    """Return the tensor of a union where a number does not decide; the numbers where there is no tensor."""
    tensors = [option for option in value.options if option.kind is Kind.TENSOR]
    return join_all(tensors) if tensors else tensor_in(value)


_COPYING = frozenset({Kind.TENSOR, Kind.NDARRAY, Kind.LIST})  # as indices; others give a view


def indexed(value: AbstractValue, index: tuple[AbstractValue, ...]) -> AbstractValue:
    """Return the value of ``value[index]`` for a tensor or array; ``index`` has one value for each element."""
    ndim = _indexed_ndim(fact(value, "ndim"), index)
    if value.kind is Kind.NDARRAY and ndim == 0:
        return NUMBER
    copies = {option.kind in _COPYING for item in index for option in item.options}
    pinned = fact(value, "pinned")
    if True in copies and value.device is Device.CPU:
        is_copied = any(all(option.kind in _COPYING for option in item.options) for item in index)
        pinned = False if is_copied or not pinned else DIFFERS
    item = refine(value, ndim=ndim, pinned=pinned, count=None if True in copies else value.count)
    return join(NUMBER, item) if value.kind is Kind.NDARRAY and ndim is DIFFERS else item


def _indexed_ndim(ndim: Any, index: tuple[AbstractValue, ...]) -> Any:
    """Return the number of dimensions after indexing; see `fact`."""
    changes = [_change_of_ndim(item) for item in index]
    if ndim is None or None in changes:
        return None
    arrays = [item for item in index if item.kind in ARRAYS and not _is_integer(item)]
    if ndim is DIFFERS or DIFFERS in changes or len(arrays) > 1:
        return DIFFERS
    return max(ndim + sum(changes), 0)


def _change_of_ndim(item: AbstractValue) -> Any:
    """Return the change in the number of dimensions by one element of an index; see `fact`."""
    if item.kind is Kind.NUMBER:
        return -1
    if item.kind is Kind.NONE:
        return 1
    if item.kind in ARRAYS:  # a mask leaves one for all of its own, an integer is one of a dimension
        ndim, dtype = fact(item, "ndim"), fact(item, "dtype")
        if ndim is None or dtype is None or ndim is DIFFERS or dtype is DIFFERS:
            return None if ndim is None or dtype is None else DIFFERS
        return 1 - ndim if dtype in MASKS else ndim - 1
    return 0 if item.kind in {Kind.SLICE, Kind.LIST, Kind.TUPLE} else None if item is BOTTOM else DIFFERS


def _is_integer(item: AbstractValue) -> bool:
    """Return whether an element of an index is an integer, which removes a dimension."""
    return item.kind is Kind.NUMBER or (
        item.kind is Kind.TENSOR and item.ndim == 0 and item.dtype not in MASKS
    )


def arithmetic(at: Point, operands: list[AbstractValue], operator: str) -> AbstractValue:
    """Return the result of an operator on values that include a tensor or an array."""
    arrays = [operand for operand in operands if operand.kind is Kind.NDARRAY]
    if arrays and BOTTOM in operands and not at.stays_open():
        return BOTTOM  # which may be a tensor
    with_tensor = any(map(tensors_in, operands))
    base = together(at, operands) if with_tensor or not arrays else _broadcast(arrays)
    if operator in COMPARISONS:
        return refine(base, dtype="bool")
    if _lacks_dtype(operands) and not at.stays_open():
        return base if not with_tensor else refine(base, dtype=None)
    return refine(base, dtype=_operated([o for o in operands if o.kind in NUMERIC], operator))


COMPARISONS = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})


def _lacks_dtype(operands: Sequence[AbstractValue]) -> bool:
    """Return whether the dtype of an operand is not known yet."""
    return any(fact(each, "dtype") is None for each in operands if each.kind in NUMERIC or each is BOTTOM)


def _operated(operands: list[AbstractValue], operator: str) -> Any:
    """Return the dtype of ``a + b``; ``/`` gives fractions, and bitwise operators on a bool and an unknown dtype give bool."""
    if operator == "Div":
        return "float"
    dtypes = {fact(operand, "dtype") for operand in operands}
    if operator in {"BitAnd", "BitOr", "BitXor"} and dtypes == {"bool", None}:
        return "bool"
    return common_dtype(operands)


def _broadcast(arrays: list[AbstractValue]) -> AbstractValue:
    """Return the result of an operator on arrays and numbers: a new array with the most dimensions of any."""
    return refine(AbstractValue(Kind.NDARRAY, pinned=False), ndim=most_dimensions(arrays))
