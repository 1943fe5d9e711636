"""The line and the source text of an instruction, and the text of a contribution, as evidence shows them."""

from __future__ import annotations

from typing import Any

from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.dataflow.state import State
from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.source.index import Function, Module, Virtual
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.storing import ANY_NAME
from syncscan.check.infer.transfer.virtual import parameter_at
from syncscan.syntax.source_text import on_one_line

_LONGEST = 72

# Instructions whose first operand is the same value, or what the attribute is of.
_OF_ONE_VALUE = frozenset(
    {
        Op.AFTER_CALL,
        Op.ATTRIBUTE,
        Op.NAMED,
        Op.NOT_NONE,
        Op.TRUE,
        Op.ANNOTATED,
        Op.REBOUND,
        Op.IS_INSTANCE,
        Op.TESTED,
        Op.AT_PLACE,
        Op.AT_DEVICE,
    }
)


def line_of(state: State, slot: Slot) -> int:
    """Return the line of an instruction, or 0 if not recorded."""
    return state.ir.places[slot][0] if slot in state.ir.places else 0


def line_of_use(state: State, slot: Slot) -> int:
    """Return the line of the first recorded instruction that a value reaches, or 0: an unpacked value has no line of its own."""
    reached = {slot}
    for user in range(slot + 1, len(state.ir.ops)):
        if not reached.isdisjoint(state.ir.operands[user]):
            if user in state.ir.places:
                return line_of(state, user)
            reached.add(user)
    return 0


def text_of(state: State, slot: Slot) -> str:
    """Return a call's source on one line, shortened for a message, or the path of a name: `layer.weight`."""
    if slot not in state.ir.places:
        return _path_of(state, slot)
    line, column, end_line, end_column = state.ir.places[slot]
    lines = [each.encode() for each in state.function.module.lines[line - 1 : end_line]]
    if lines and end_line == line:
        lines[0] = lines[0][:end_column]
    elif lines:
        lines[-1] = lines[-1][:end_column]
    text = b"\n".join([each[column:] if number == 0 else each for number, each in enumerate(lines)])
    return on_one_line(text.decode(errors="replace"), _LONGEST)


def _path_of(state: State, slot: Slot) -> str:
    """Return a name with its attributes, `layer.weight`; the attributes alone where no name is known; "" without both."""
    ir, attributes = state.ir, list[str]()
    while slot >= 0 and ir.ops[slot] in _OF_ONE_VALUE and not _name_of(state, slot):
        if ir.ops[slot] == Op.ATTRIBUTE:
            attributes.append(ir.data[slot][0])
        slot = next(iter(ir.operands[slot]), -1)
    name = _name_of(state, slot) if slot >= 0 else ""
    return ".".join([*([name] if name else ()), *reversed(attributes)])


def _name_of(state: State, slot: Slot) -> str:
    """Return the name of a parameter, a variable or a refined value; "" for other instructions."""
    op, data = state.ir.ops[slot], state.ir.data[slot]
    if op == Op.PARAMETER:
        return state.function.parameters[int(data)].name
    return str(data or "") if op in {Op.READ_NAME, Op.NAMED} else ""


def text_of_contribution(cell: Cell[Any], state: State, slot: Slot) -> str:
    """Return the text of a link for a contribution to a cell; "" where the contribution adds no link."""
    key, data = cell.key, state.ir.data[slot]
    if cell.sort == "parameters":
        owner = _owner_of(key, state)
        return f"a call site passes `{key.name}` to `{owner}`"
    if cell.sort == "virtual arguments":
        virtual, _, place = key
        parameter = parameter_at(_method_called(virtual), place)
        name = place if isinstance(place, str) else parameter.name if parameter is not None else str(place)
        return f"a call site passes `{name}` to `{virtual.cls.qualname}.{virtual.name}`"
    if cell.sort == "filled":
        return f"`{state.function.qualname}` fills `{key.name}`"
    if cell.sort == "returns":
        return f"`{key.qualname}` returns the value" if state.ir.ops[slot] == Op.RETURN else ""
    if cell.sort in {"attributes", "set_in_bodies"}:
        if key[1] == ANY_NAME:
            return f"assignments under computed names set attributes of `{key[0].qualname}`"
        path = data[1] if state.ir.ops[slot] in {Op.STORE_ATTRIBUTE, Op.STORE_CLASS} else key[1]
        return f"an assignment sets `{path}`"
    return f"an assignment sets `{key[1]}`" if cell.sort == "globals" and isinstance(key[0], Module) else ""


def _method_called(virtual: Virtual) -> Function:
    """Return the method of the class that a call names, or the first one of its subclasses."""
    return virtual.cls.find_method(virtual.name) or next(iter(virtual.below))


def _owner_of(parameter: Parameter, state: State) -> str:
    for callee in state.callees:
        if parameter in getattr(callee, "parameters", ()):
            return str(callee.qualname)  # type: ignore[union-attr]  # a virtual method has no parameters
    return ""
