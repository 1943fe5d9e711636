"""The operand that decides where a value lives: of an operation, of a call, of an item of a container."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.domain.crossing import parts_of
from syncscan.check.infer.domain.value import AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, Op, Slot
from syncscan.check.infer.source.parameters import Parameter
from syncscan.model import ON_GPU, Device, Kind

Places = frozenset[Device]
ON_HOST: Places = frozenset({Device.CPU})
ANYWHERE: Places = frozenset(Device)  # for what is no tensor


def is_in(value: object, places: Places, index: int | None = None) -> bool:
    """Return whether a value, one item of it, or a part of either, is on one of some devices."""
    if not isinstance(value, AbstractValue):
        return False
    asked = value if index is None else item(value, index)
    if places is ON_GPU:
        return asked.holds_gpu
    return any(part.device in places for part in parts_of(asked))


_RANK = {Device.CUDA: 4, Device.MIXED: 3, Device.UNKNOWN: 2, Device.OTHER: 1, Device.CPU: 0}


_ADDS = frozenset({Op.PUT, Op.ADDED, Op.STORED})


def onward(
    state: State,
    slot: Slot,
    index: int | None,
    operands: Sequence[AbstractValue],
    places: Places,
    visited: set[Slot],
) -> tuple[Slot | None, int | None]:
    """Return the operand that decides where a value, or one item of it, lives, and the item that is asked of the operand."""
    slots = state.ir.operands[slot]
    is_written = state.ir.ops[slot] == Op.SEQUENCE and not state.ir.data[slot][1]  # without ``*items``
    if (
        index is not None
        and is_written
        and -len(slots) <= index < len(slots)
        and is_in(operands[index], places)
    ):
        return slots[index], None
    asked = index if state.ir.ops[slot] in _SAME else None
    return _deciding(state, slot, operands, places, visited, asked), _index_of(state, slot, index)


def _deciding(
    state: State,
    slot: Slot,
    values: Sequence[AbstractValue],
    places: Places,
    visited: set[Slot],
    index: int | None,
) -> Slot | None:
    """Return the operand that decides the device of a value: the one with the most certain device, then the first."""
    best: tuple[int, int, int] | None = None
    found: Slot | None = None
    operands = [*zip(state.ir.operands[slot], values, strict=True)]
    if state.ir.ops[slot] == Op.SUBSCRIPT:
        operands = operands[:1]
    elif state.ir.ops[slot] in _ADDS:
        operands = operands[::-1]  # what is added before the container, whose own items may come from here
    for number, (each, value) in enumerate(operands):
        if each < 0 or each in visited or not is_in(value, places, index):
            continue
        rank = max([(_RANK[part.device], int(part.confidence)) for part in parts_of(value)])
        if best is None or (*rank, -number) > best:
            best, found = (*rank, -number), each
    return found


# Instructions whose value is one of their operands.
_SAME = frozenset(
    {Op.PHI, Op.JOIN, Op.NAMED, Op.NOT_NONE, Op.TRUE, Op.ANNOTATED, Op.REBOUND, Op.GATE, Op.RETURN, Op.TESTED}
)


def _index_of(state: State, slot: Slot, index: int | None) -> int | None:
    """Return the constant index of the item that is asked of an instruction's operand, or None.

    ``index`` is that of the item which is asked of the instruction.
    """
    if state.ir.ops[slot] in _SAME:
        return index
    if state.ir.ops[slot] == Op.UNPACKED:
        position, count, star = state.ir.data[slot]
        return int(position if star is None or position < star else position - count)
    payload = state.values[state.ir.operands[slot][1]].payload if state.ir.ops[slot] == Op.SUBSCRIPT else None
    return payload if isinstance(payload, int) else None


def item(value: AbstractValue, index: int | None) -> AbstractValue:
    """Return an item of a container if known individually, else the join of its elements."""
    if (
        value.items is not None
        and value.kind is not Kind.UNION
        and index is not None
        and -len(value.items) <= index < len(value.items)
    ):
        return value.items[index]
    return value if value.element is None else value.element


def device_operand(state: State, slot: Slot) -> Slot | None:
    """Return the slot of a call's argument that names a device, or None."""
    site = state.ir.data[slot]
    if not isinstance(site, CallSite):
        return None
    operands = state.ir.operands[slot]
    names = dict(
        zip(site.keywords, operands[len(operands) - len(site.keywords) - site.has_device :], strict=False)
    )
    if "device" in names:
        return names["device"]
    for each in reversed(operands):
        value = state.values[each] if each >= 0 else None
        if value is not None and value.holds_gpu and value.kind.value in {"device", "tensor"}:
            return each
    return None


def passed(state: State, slot: Slot, cell: Cell[Any], places: Places) -> Slot | None:
    """Return the slot of the argument that a call contributes to a cell, or None; an operator passes its operands."""
    if not isinstance(state.ir.data[slot], CallSite):
        given = [each for each in state.ir.operands[slot] if each >= 0 and is_in(state.values[each], places)]
        return _alike_or_first(state, slot, cell, given) if given else None
    called, arguments = _called_and_arguments(state, slot)
    found = _named_argument(state, slot, cell, arguments)
    if found is not None:
        return found
    on_gpu = [each for each in arguments if is_in(state.values[each], places)]
    if on_gpu:
        return _alike_or_first(state, slot, cell, on_gpu)
    receivers = [each for each in called if is_in(state.values[each], places)]
    return receivers[-1] if receivers else None


def _called_and_arguments(state: State, slot: Slot) -> tuple[Sequence[Slot], Sequence[Slot]]:
    """Return the operands of a call that denote the callee, and its arguments."""
    site: CallSite = state.ir.data[slot]
    operands = state.ir.operands[slot][: -1 if site.has_device else None]
    called = 0 if state.ir.ops[slot] == Op.CALL_SUPER else 2 if site.has_bound else 1
    return operands[:called], operands[called:]


def _named_argument(state: State, slot: Slot, cell: Cell[Any], arguments: Sequence[Slot]) -> Slot | None:
    """Return the argument for the parameter of a cell, by position or name, or None."""
    site: CallSite = state.ir.data[slot]
    key = cell.key
    if isinstance(key, Parameter):
        name, position = key.name, _position(key, state)
    elif cell.sort == "virtual arguments":
        name, position = key[2], key[2] if isinstance(key[2], int) else None
    elif cell.sort == "attributes":  # the call makes a record, and the argument is for a field
        fields = key[0].fields()
        name, position = key[1], fields.index(key[1]) if key[1] in fields else None
    else:
        return None
    if name in site.keywords:
        return arguments[site.positional + site.keywords.index(name)]
    return arguments[position] if position is not None and 0 <= position < site.positional else None


def _alike_or_first(state: State, slot: Slot, cell: Cell[Any], on_gpu: Sequence[Slot]) -> Slot:
    wanted = cell.contributions.get(state.base + slot)
    same = (
        each for each in on_gpu if isinstance(wanted, AbstractValue) and _alike(state.values[each], wanted)
    )
    return next(same, on_gpu[0])


def _position(parameter: Parameter, state: State) -> int | None:
    """Return the position of a parameter among the positional arguments of a call, without the receiver."""
    for callee in state.callees:
        plain = getattr(callee, "plain", ())
        if parameter in plain:
            is_method = callee.owner is not None and not callee.is_static  # type: ignore[union-attr]  # with `plain` it is no virtual method
            return plain.index(parameter) - is_method
    return None


def _alike(value: AbstractValue, contribution: AbstractValue) -> bool:
    return (value.kind, value.dtype, value.ndim) == (contribution.kind, contribution.dtype, contribution.ndim)
