"""Objects that a function makes, or gets, and hands on: up to then, nothing but the function itself changes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from syncscan.check.infer.ir.instructions import FunctionIR, Op, Slot
from syncscan.check.infer.source.index import Function
from syncscan.ops.modules import MOVES, READS, STAYS, TENSORS

_SAME = frozenset({Op.AFTER_CALL, Op.ANNOTATED, Op.NAMED, Op.NOT_NONE, Op.REBOUND})
_CALLS = frozenset({Op.CALL, Op.CALL_METHOD})
_PARTS = frozenset({Op.ATTRIBUTE, Op.ITERATED, Op.SUBSCRIPT, Op.UNPACKED})
_KEEPS = frozenset({*_SAME, *_PARTS})


def first_handed_in(ir: FunctionIR, function: Function) -> Mapping[Slot, Slot]:
    """Return the instruction that first hands on what each slot holds, for objects that a call makes and for parameters.

    To hand on or move a part counts as well. Functions inside may see all of them, so there it returns none. The names of a
    module's body are seen by others too, and taken to be left alone.
    """
    is_body = function is function.module.body
    if not is_body and (function.children or ir.lambdas):
        return {}
    found = _Made(ir, {}, {}, set(), {})
    for slot, op in enumerate(ir.ops):
        if not (is_body and op == Op.STORE_GLOBAL):
            found.note_handed(slot)
        found.note_made(slot, op)
    return {slot: found.handed[call] for slot, call in found.made.items() if call in found.handed}


class _Made(NamedTuple):
    """The slots that hold an object, or a part of one, by the call or parameter that gave the object; and who first hands it on."""

    ir: FunctionIR
    made: dict[Slot, Slot]
    part: dict[Slot, Slot]
    tensors: set[Slot]  # of the parts, those that are tensors, or hold some: who gets them moves no module
    handed: dict[Slot, Slot]

    def note_handed(self, slot: Slot) -> None:
        """Note the objects that an instruction hands on, or moves a part of."""
        handed = [each for each in _handed_on(self.ir, slot) if each not in self.tensors]
        held = [self.made.get(each, self.part.get(each)) for each in handed]
        calls = [call for call in held if call is not None]
        whole = self._whole(slot)
        if whole is not None and _member(self.ir, slot) in MOVES:
            calls.append(whole)
        for call in calls:
            self.handed.setdefault(call, slot)

    def note_made(self, slot: Slot, op: int) -> None:
        """Note that an instruction gives an object, or a part of one."""
        member, whole = _member(self.ir, slot), self._whole(slot)
        is_same = op in _SAME or (op == Op.CALL_METHOD and member in STAYS)
        if is_same and next(iter(self.ir.operands[slot]), -1) in self.made and whole is not None:
            self.made[slot] = whole
        elif whole is not None and (op in _PARTS or member in READS):
            self.part[slot] = whole
            if member in TENSORS or not self.tensors.isdisjoint(self.ir.operands[slot]):
                self.tensors.add(slot)
        elif op in _CALLS or op == Op.PARAMETER:
            self.made[slot] = slot

    def _whole(self, slot: Slot) -> Slot | None:
        """Return the call or parameter that gave the object which the first operand of an instruction is, or is a part of."""
        base = next(iter(self.ir.operands[slot]), -1)
        return self.made.get(base, self.part.get(base))


def _member(ir: FunctionIR, slot: Slot) -> str:
    """Return the attribute that an instruction reads or calls; "" for others."""
    op, data = ir.ops[slot], ir.data[slot]
    if op == Op.CALL_METHOD:
        return str(data.attribute)
    return str(data[0]) if op == Op.ATTRIBUTE else ""


def _handed_on(ir: FunctionIR, slot: Slot) -> Iterator[Slot]:
    """Yield the operands of an instruction that others may see, or change, from then on."""
    op, operands, data = ir.ops[slot], ir.operands[slot], ir.data[slot]
    if op in _KEEPS:
        return
    if op in _CALLS:
        is_kept = op == Op.CALL or data.attribute in STAYS | READS
        yield from operands[1 if is_kept else 0 :]
    else:
        yield from operands  # (an operand that comes later is of an earlier turn of a loop)
