"""Lowering of calls: the callee, the arguments in order, and the side effects on the environment."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from syncscan.check.infer.ir.instructions import CallSite, Op, Slot
from syncscan.check.infer.lower.lowering import DEVICE, EXPRESSIONS, Lowering, lowers
from syncscan.check.infer.source.syntax import last_name, walk

_A_DEVICE = re.compile(r".*device.*|_?dev|_?(local_)?rank|_?(gpu|cuda)(_?id)?")
_FILLS = frozenset({"append", "add", "appendleft", "insert", "extend", "update", "setdefault"})
_RESIZES = frozenset({"resize_", "resize_as_", "set_"})


@lowers(EXPRESSIONS, ast.Call)
def _call(to: Lowering, node: ast.Call) -> Slot:
    function = node.func
    if isinstance(function, ast.Attribute):
        slot = _method_call(to, node, function)
    else:
        callee = to.evaluate(function)
        read = _read_by_name(to, callee)
        if read is None:
            slot = _emit_call(to, Op.CALL, (callee,), node, CallSite(0))
        else:
            affixes = to.ir.data[read].affixes
            called = to.ir.operands[read][1:3]
            slot = _emit_call(to, Op.CALL_METHOD, called, node, CallSite(0, has_bound=True, affixes=affixes))
        _note_default_device(to, node, slot)
    for name in to.rebound:
        if name in to.env:
            to.env[name] = to.emit(Op.REBOUND, (to.env[name],), name)
    return slot


def _method_call(to: Lowering, node: ast.Call, function: ast.Attribute) -> Slot:
    if _is_super(function.value):
        return _emit_call(to, Op.CALL_SUPER, (), node, CallSite(0, attribute=function.attr))
    base = to.evaluate(function.value)
    bound = to.env.get(to.path(function))
    called = (base,) if bound is None else (base, bound)
    site = CallSite(0, attribute=function.attr, has_bound=bound is not None)
    slot = _emit_call(to, Op.CALL_METHOD, called, node, site)
    if function.attr in _FILLS:
        _note_filled(to, function.value, slot)
    elif function.attr in _RESIZES:
        _note_resized(to, function.value)
    for keyword in node.keywords:
        if keyword.arg == "out":
            _note_resized(to, keyword.value)
    _note_default_device(to, node, slot)
    return slot


def _read_by_name(to: Lowering, callee: Slot) -> Slot | None:
    """Return the call of ``getattr`` whose result is called, perhaps after a test for None; None for other callees."""
    ir = to.ir
    while ir.ops[callee] == Op.NOT_NONE:
        callee = ir.operands[callee][0]
    if ir.ops[callee] != Op.CALL:
        return None
    site, (getter, *given) = ir.data[callee], ir.operands[callee]
    is_getter = ir.ops[getter] == Op.READ_NAME and ir.data[getter] == "getattr"
    if not is_getter or site.spreads or site.keywords or not 2 <= site.positional <= 3:
        return None
    has_default = site.positional == 3 and (ir.ops[given[2]], ir.data[given[2]]) != (Op.CONSTANT, None)
    return None if has_default else callee


def _note_filled(to: Lowering, node: ast.expr, slot: Slot) -> None:
    """Rebind a container after a call such as `append`; for an item of a container, rebind that container."""
    item = _item(node)
    container = node if item is None else item[0]
    if not to.path(container):
        return
    filled = to.emit(Op.ADDED, to.ir.operands[slot], to.ir.data[slot])
    if item is not None:
        filled = to.emit(Op.PUT, (to.peek(container), to.peek(item[1]), filled), None)
    mutate(to, container, filled)


def _item(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return the container and the index of an item: `outer[index]` or `outer.setdefault(index, ...)`."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
        return (node.func.value, node.args[0]) if node.args else None
    return None


def _note_resized(to: Lowering, node: ast.expr) -> None:
    if to.path(node):
        mutate(to, node, to.once(Op.RESIZED, (to.peek(node),)))


def _note_default_device(to: Lowering, node: ast.Call, slot: Slot) -> None:
    """Rebind the default device after a call that may set it."""
    if last_name(node.func) == "set_default_device" and node.args:
        before = to.env.get(DEVICE)
        operands = (before if before is not None else to.nothing(), *to.ir.operands[slot])
        to.env[DEVICE] = to.emit(Op.SET_DEVICE, operands, to.ir.data[slot])


def _emit_call(to: Lowering, op: Op, called: tuple[Slot, ...], node: ast.Call, site: CallSite) -> Slot:
    args = [to.evaluate(arg) for arg in node.args]
    kwargs = [to.evaluate(keyword.value) for keyword in node.keywords]
    device = to.env.get(DEVICE)
    names = [last_name(arg) for arg in node.args]
    keywords = tuple([keyword.arg for keyword in node.keywords])
    site = CallSite(
        len(args),
        _starred(node),
        keywords,
        site.attribute,
        site.has_bound,
        device is not None,
        to.is_allowed,
        # by the name of an argument: an unknown ``x`` in ``.to(x)`` may also be a dtype
        "device" in keywords or any(map(_is_named_device, names)),
        any("type" in name for name in names),
        frozenset(_empty(node)) or _NOT_EMPTY,
        node.args[0] if names and last_name(node.func) == "cast" else None,
        site.affixes if site.has_bound else _computed_name(node),
    )
    operands = (*called, *args, *kwargs) if device is None else (*called, *args, *kwargs, device)
    slot = to.emit_at(node, op, operands, site)
    if to.unread:
        _note_read(to, node)
    if to.listener is not None:
        to.listener.runs(node, slot)
    return slot


def _note_read(to: Lowering, node: ast.Call) -> None:
    """Forget the stores that a call may read: any but one of a module without the object, or of a method of what is stored."""
    function = node.func
    path = to.path(function.value) if isinstance(function, ast.Attribute) else ""
    if path in to.unread:
        return
    owners = {stored.partition(".")[0] for stored in to.unread}
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    names = {each.id for arg in given for each in walk(arg) if isinstance(each, ast.Name)}
    if not path or path.partition(".")[0] in to.env or names & owners:
        to.unread.clear()


def _starred(node: ast.Call) -> tuple[int, ...]:
    return tuple([place for place, arg in enumerate(node.args) if isinstance(arg, ast.Starred)])


_NOT_EMPTY: frozenset[int | str] = frozenset()  # CPython makes a new one each time
_NO_AFFIXES = ("", "")


def _computed_name(node: ast.Call) -> tuple[str, str]:
    """Return how the name that ``getattr`` reads begins and ends, where the name is computed."""
    return _affixes(node.args[1]) if len(node.args) > 1 and last_name(node.func) == "getattr" else _NO_AFFIXES


def _affixes(name: ast.expr) -> tuple[str, str]:
    """Return how a computed text begins and ends, as in `f"_run_{kind}"` and `"_run_" + kind`."""
    if isinstance(name, ast.JoinedStr) and name.values:
        return _text(name.values[0]), _text(name.values[-1])
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return _affixes(name.left)[0] or _text(name.left), _affixes(name.right)[1] or _text(name.right)
    return _NO_AFFIXES


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@functools.lru_cache(maxsize=65536)
def _is_named_device(name: str) -> bool:
    return _A_DEVICE.fullmatch(name) is not None


def _empty(node: ast.Call) -> Iterator[int | str]:
    """Yield the arguments that are the literal ``[]``; a variable with an empty list may have been filled since."""
    given = [*enumerate(node.args[:1]), *((keyword.arg, keyword.value) for keyword in node.keywords)]
    for name, each in given:
        if isinstance(each, (ast.List, ast.Tuple)) and not each.elts and name is not None:
            yield name


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def mutate(to: Lowering, node: ast.expr, slot: Slot) -> None:
    """Bind a container, named by ``node``, to its value after an item was added."""
    path = to.path(node)
    if not path:
        return
    if isinstance(node, ast.Name):
        if path in to.env:
            to.env[path] = slot
            to.publish(path, slot, node)
        elif path in to.module.globals:  # of the module, filled by this function
            to.emit_at(node, Op.STORE_GLOBAL, (slot,), path)
    elif isinstance(node, ast.Attribute):
        base = to.peek(node.value)
        to.env[path] = slot
        to.emit_at(node, Op.STORE_ATTRIBUTE, (base, slot), (node.attr, path, True))
