"""The number of dimensions of a result, from its entry in the operation table and the operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, AbstractValue, fact, refine
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.operands import is_open_operand, items_in, most_dimensions, tensors_in
from syncscan.check.infer.transfer.point import Point
from syncscan.model import ARRAYS, Kind
from syncscan.ops.dimensions import SIZE, relative

_OF_OPERANDS = frozenset({"input", "view"})
WITHOUT_DIMENSIONS = frozenset({Kind.DTYPE, Kind.NUMBER, Kind.DEVICE, Kind.STRING, Kind.NONE})


def shaped(at: Point, base: AbstractValue, bound: Bound) -> AbstractValue:
    """Return a result with the number of dimensions that the table says."""
    said = bound.operation.ndim
    if isinstance(said, int):
        return refine(base, ndim=said)
    if said == SIZE:
        return refine(base, ndim=_of_size(at, bound))
    if bound.operation.result not in _OF_OPERANDS:
        return base
    decides = relative(said)
    if decides is None:
        return refine(base, ndim=DIFFERS)
    operands = [each for each in bound.operands() if each.kind not in WITHOUT_DIMENSIONS]
    ndim = _of_operands(at, decides.decisive(operands))
    return refine(base, ndim=max(ndim + decides.more, 0) if isinstance(ndim, int) else ndim)


def _of_operands(at: Point, operands: Sequence[AbstractValue]) -> Any:
    """Return the most dimensions of any operand; see `fact`."""
    if any(map(is_open_operand, operands)) and not at.stays_open():
        return None
    tensors = [tensor for operand in operands for tensor in tensors_in(operand)]
    return most_dimensions(tensors) if tensors else DIFFERS


def _of_size(at: Point, bound: Bound) -> Any:
    """Return the number of dimensions that a size gives a tensor; ``x.view(dtype)`` keeps its own."""
    sizes = bound.values.get("size", ())
    if any(size.kind is Kind.DTYPE for size in sizes):
        return _of_operands(at, bound.operands()[:1])
    return sized(at, bound) if sizes or bound.get("data") is not None else DIFFERS


def reduced(bound: Bound, along: AbstractValue) -> Any:
    """Return the number of dimensions that a reduction along some of them leaves; see `fact`."""
    receiver = array_in(bound.get("input") or BOTTOM)
    ndim = common_fact(receiver, "ndim")
    if not isinstance(ndim, int):
        return ndim
    keeps = bound.get("keepdim")
    if keeps is None or keeps.payload is False:
        return max(ndim - 1, 0) if along.kind is Kind.NUMBER else DIFFERS
    return ndim if keeps.payload is True else DIFFERS


def sized(at: Point, bound: Bound) -> Any:
    """Return the number of dimensions from a size or from the nesting of the data; see `fact`."""
    sizes = bound.values.get("size")
    if sizes:
        if at.site is not None and at.site.starred:
            return DIFFERS
        if len(sizes) > 1:
            return len(sizes)
        size = sizes[0]
        if size.kind is Kind.NUMBER:
            return 1
        if size.kind in {Kind.TUPLE, Kind.LIST} and size.items is not None:
            return len(size.items)
        return None if size is BOTTOM else DIFFERS
    return _dimensions_of_data(bound.get("data"))


def _dimensions_of_data(data: AbstractValue | None) -> Any:
    """Return the number of dimensions from the nesting of data; see `fact`."""
    if data is None or data is BOTTOM:
        return None
    if data.kind in {Kind.TENSOR, Kind.NDARRAY}:
        return fact(data, "ndim")
    if data.kind is Kind.NUMBER:
        return 0
    if data.kind in {Kind.LIST, Kind.TUPLE}:
        nested = {_dimensions_of_item(item) for item in items_in(data)} - {None}
        return None if not nested else nested.pop() if len(nested) == 1 else DIFFERS
    return DIFFERS


def _dimensions_of_item(item: AbstractValue) -> Any:
    """Return the number of dimensions of data from one of its items; torch reads a tensor there as a number, or refuses."""
    ndim = DIFFERS if item.kind in ARRAYS else _dimensions_of_data(item)
    return ndim + 1 if isinstance(ndim, int) else ndim


def common_fact(value: AbstractValue, name: str) -> Any:
    """Return the join of a fact over the options of a value; see `fact`."""
    facts = {fact(option, name) for option in value.options} - {None}
    return None if not facts else facts.pop() if len(facts) == 1 else DIFFERS


def array_in(value: AbstractValue) -> AbstractValue:
    """Return the join of the tensors and arrays among the options of a value."""
    return join_all([option for option in value.options if option.kind in ARRAYS])
