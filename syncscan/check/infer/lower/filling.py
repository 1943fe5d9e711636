"""Containers that a function fills for its caller: ``move(batch, device)``, where ``move`` stores the items that it has moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from syncscan.check.infer.ir.instructions import FunctionIR, Op, Slot
from syncscan.check.infer.lower.lowering import Lowering
from syncscan.check.infer.source.syntax import last_name

_CALLS = frozenset({Op.CALL, Op.CALL_METHOD})
_FILLED = frozenset({Op.PUT, Op.ADDED, Op.AFTER_CALL})
# Instructions whose value is the object that is their first operand, filled or not.
_SAME = _FILLED | {Op.ANNOTATED, Op.GATE, Op.IS_INSTANCE, Op.NAMED, Op.NOT_NONE, Op.TESTED, Op.TRUE}
_WRITTEN_OUT = frozenset({Op.DICT, Op.DICT_OF, Op.LIST_OF, Op.SEQUENCE, Op.SET, *_FILLED})
_ITEMS = frozenset({Op.ITERATED, Op.SUBSCRIPT, Op.UNPACKED})
_MAKERS = frozenset({"OrderedDict", "defaultdict", "deque", "dict", "list", "next", "set"})
_CONTAINERS = frozenset(
    {"Dict", "DefaultDict", "List", "MutableMapping", "MutableSequence", "defaultdict", "dict", "list", "set"}
)


def note_passed(to: Lowering, node: ast.expr, slot: Slot) -> None:
    """Rebind the containers that a call of its own statement has passed to a function, which may have filled them."""
    node = node.value if isinstance(node, ast.Await) else node
    if not isinstance(node, ast.Call) or to.ir.ops[slot] not in _CALLS:
        return
    site, called = to.ir.data[slot], to.ir.operands[slot][0]
    if to.ir.ops[slot] == Op.CALL_METHOD and site.has_bound:
        return
    for place, path in passed_names(node):
        before = to.env.get(path)
        if before is not None and _may_be_filled(to, path, before):
            to.env[path] = to.emit(Op.AFTER_CALL, (before, called), (place, site.attribute))


def passed_names(node: ast.Call) -> Iterator[tuple[int | str, str]]:
    """Yield the place and the name of each argument that is a name; after a starred argument, the places are not known."""
    for place, arg in enumerate(node.args):
        if isinstance(arg, ast.Starred):
            break
        if isinstance(arg, ast.Name):
            yield place, arg.id
    for keyword in node.keywords:
        if keyword.arg is not None and isinstance(keyword.value, ast.Name):
            yield keyword.arg, keyword.value.id


def is_container(to: Lowering, path: str) -> bool:
    """Return whether a name holds a container as the source shows."""
    slot = to.env.get(path)
    return slot is not None and _is_written_out(to.ir, slot)


def _may_be_filled(to: Lowering, path: str, slot: Slot) -> bool:
    ir = to.ir
    if ir.ops[slot] == Op.PARAMETER:
        annotation = to.function.by_name[path].annotation if path in to.function.by_name else None
        whole = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        return whole is not None and last_name(whole) in _CONTAINERS
    return ir.ops[slot] in _ITEMS or _is_written_out(ir, slot)


def _is_written_out(ir: FunctionIR, slot: Slot) -> bool:
    """Return whether a value is a container that the function makes itself."""
    while ir.ops[slot] == Op.PHI and ir.operands[slot] and ir.operands[slot][0] < slot:
        slot = ir.operands[slot][0]  # as it was before the loop
    if ir.ops[slot] == Op.CALL:
        callee = ir.operands[slot][0]
        return ir.ops[callee] == Op.READ_NAME and ir.data[callee] in _MAKERS
    return ir.ops[slot] in _WRITTEN_OUT


def note_exit(to: Lowering) -> None:
    """Note the value of each parameter that a function may have filled, where it ends."""
    for slot, name in to.parameters.items():
        now = to.env.get(name, slot)
        if now != slot:
            to.exits[now] = slot


def emit_fills(to: Lowering) -> None:
    """Emit what a function adds to its arguments, once all paths are complete."""
    ends: dict[Slot, list[Slot]] = {}
    for slot, parameter in to.exits.items():
        ends.setdefault(parameter, []).append(slot)
    for parameter, slots in ends.items():
        added = _added_to(to.ir, slots, parameter)
        if not added:
            continue
        whole = to.emit(Op.EMPTIED, (parameter,))
        for slot in sorted(added):
            operands = (whole, *to.ir.operands[slot][1:])
            whole = to.joined((whole, to.emit(Op(to.ir.ops[slot]), operands, to.ir.data[slot])))
        to.emit_at(to.function.node, Op.FILL, (whole,), to.ir.data[parameter])


def _added_to(ir: FunctionIR, ends: Sequence[Slot], parameter: Slot) -> list[Slot]:
    """Return the instructions that fill an argument on the way to its last values; none that fill something else."""
    users: dict[Slot, list[Slot]] = {}
    met, others = dict.fromkeys(ends), list[Slot]()
    for each in (queue := [*met]):
        op = ir.ops[each]
        if each == parameter:
            continue
        if op != Op.PHI and op not in _SAME:
            others.append(each)
            continue
        for operand in dict.fromkeys(ir.operands[each] if op == Op.PHI else ir.operands[each][:1]):
            users.setdefault(operand, []).append(each)
            if operand not in met:
                met[operand] = None
                queue.append(operand)
    foreign = dict.fromkeys(others)
    for each in others:  # which grows meanwhile
        for user in users.get(each, ()):
            if user not in foreign:
                foreign[user] = None
                others.append(user)
    return [each for each in met if ir.ops[each] in _FILLED and each not in foreign]
