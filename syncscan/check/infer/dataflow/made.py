"""Objects that a function makes and hands on: up to then, nothing but the function itself has seen them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from syncscan.check.infer.ir.instructions import FunctionIR, Op, Slot

# Methods of a module that return it, and leave it where it is.
_STAYS = frozenset({"bfloat16", "double", "eval", "float", "half", "requires_grad_", "train"})
_READS = frozenset(
    {"buffers", "children", "modules", "named_buffers", "named_children", "named_modules", "named_parameters", "parameters",
     "state_dict", "zero_grad"}
)  # fmt: skip
_SAME = frozenset({Op.ANNOTATED, Op.NAMED, Op.NOT_NONE, Op.REBOUND})
_CALLS = frozenset({Op.CALL, Op.CALL_METHOD})
_KEEPS = frozenset({*_SAME, Op.ATTRIBUTE, Op.STORE_GLOBAL})


def first_handed(ir: FunctionIR) -> Mapping[Slot, Slot]:
    """Return the instruction that first hands on what each slot holds, for objects that the function makes by a call."""
    made: dict[Slot, Slot] = {}  # the slot of the call that made the object in a slot
    handed: dict[Slot, Slot] = {}
    for slot, op in enumerate(ir.ops):
        for operand in _handed_on(ir, slot):
            if operand in made:
                handed.setdefault(made[operand], slot)
        base = next(iter(ir.operands[slot]), -1)
        if base in made and (op in _SAME or (op == Op.CALL_METHOD and ir.data[slot].attribute in _STAYS)):
            made[slot] = made[base]
        elif op in _CALLS:
            made[slot] = slot
    return {slot: handed[call] for slot, call in made.items() if call in handed}


def _handed_on(ir: FunctionIR, slot: Slot) -> Iterator[Slot]:
    """Yield the operands of an instruction that others may see, or change, from then on."""
    op, operands, data = ir.ops[slot], ir.operands[slot], ir.data[slot]
    if op in _KEEPS:
        return
    if op in _CALLS:
        is_kept = op == Op.CALL or data.attribute in _STAYS | _READS
        yield from operands[1 if is_kept else 0 :]
    else:
        yield from operands  # (an operand that comes later is of an earlier turn of a loop)
