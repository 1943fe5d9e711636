"""Packed sequences of `torch.nn.utils.rnn`: a tuple of the data, the sizes of batches, and two orders.

Without ``enforce_sorted``, the sequences are sorted on the host, and the orders are on the GPU with the data.
``pad_packed_sequence`` then runs ``lengths[unsorted_indices.cpu()]`` (source of torch 2.13), which copies the order to
the host.
"""

from __future__ import annotations

from syncscan.check.infer.domain.basic import FALSE, NONE, TENSOR, TRUE, sequence
from syncscan.check.infer.domain.lattice import as_tensor, join, join_all
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, AbstractValue, refine
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.operands import tensors_in
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import FUNCTIONS, register
from syncscan.model import Device, Kind

_MODULE = "torch.nn.utils.rnn"
_ON_HOST = refine(TENSOR, device=Device.CPU, dtype="int", ndim=1)
_FIELDS = 4
_RECURRENT = frozenset({"torch.nn.GRU", "torch.nn.LSTM", "torch.nn.RNN"})


@register(FUNCTIONS, f"{_MODULE}.pack_padded_sequence")
def _pack(at: Point, call: Call) -> AbstractValue:
    args = tuple(map(as_tensor, call.args))
    moved = Call(args, {name: as_tensor(value) for name, value in call.kwargs.items()}, call.site)
    at.note_operation(f"{_MODULE}.pack_padded_sequence", moved)
    return _packed(call.given(0, "input"), _flag(call, 3))


@register(FUNCTIONS, f"{_MODULE}.pack_sequence")
def _pack_list(at: Point, call: Call) -> AbstractValue:
    return _packed(call.given(0, "sequences"), _flag(call, 1))


def _flag(call: Call, position: int) -> AbstractValue:
    """Return the argument ``enforce_sorted``, which is true by default."""
    is_given = len(call.args) > position or "enforce_sorted" in call.kwargs
    return call.given(position, "enforce_sorted") if is_given else TRUE


def _packed(padded: AbstractValue, is_sorted: AbstractValue) -> AbstractValue:
    """Return the packed sequence of padded data; its order is None where the caller has sorted the data."""
    found = tensors_in(as_tensor(padded))
    if not found:
        return BOTTOM
    data = refine(join_all(found), ndim=DIFFERS, count=None)
    order = refine(data, dtype="int", ndim=1)
    if is_sorted is BOTTOM or is_sorted is TRUE:
        order = is_sorted if is_sorted is BOTTOM else NONE
    elif is_sorted is not FALSE:
        order = join(NONE, order)
    return sequence([data, _ON_HOST, order, order], Kind.TUPLE)


def _fields(value: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return the fields of a packed sequence, none for other values."""
    items = value.items if value.kind is Kind.TUPLE else None
    return items if items is not None and len(items) == _FIELDS else ()


def from_layer(at: Point, layer: AbstractValue, given: AbstractValue, made: AbstractValue) -> AbstractValue:
    """Return what a layer makes: of a packed sequence, a recurrent layer makes another in the same order, and a state."""
    if layer.payload not in _RECURRENT:
        return made
    if given is BOTTOM and not at.stays_open():
        return BOTTOM
    return join_all(
        [sequence([option, made], Kind.TUPLE) if _fields(option) else made for option in given.options]
    )


@register(FUNCTIONS, f"{_MODULE}.pad_packed_sequence")
def _pad(at: Point, call: Call) -> AbstractValue:
    packed = [*filter(None, map(_fields, call.given(0, "sequence").options))]
    if not packed:
        return BOTTOM
    data, order = (join_all([fields[place] for fields in packed]) for place in (0, -1))
    copy = at.context.table.find("torch.Tensor.cpu")
    if copy is not None and order.kind is Kind.TENSOR:  # what may be None may be left out
        at.note_bound(f"{_MODULE}.pad_packed_sequence", call, Bound.of(copy, [order], {}))
    return sequence([data, _ON_HOST], Kind.TUPLE)
