"""Refinement of paths by tests: ``x is None``, ``isinstance``, ``x.is_cuda``, ``x.device.type``."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.lower.lowering import Lowering
from syncscan.check.infer.source.texts import compared_text
from syncscan.check.infer.source.trees import types_of
from syncscan.model import Device
from syncscan.syntax.names import dotted_name

_EQUAL = (ast.Is, ast.Eq)
_EQUALITIES = (*_EQUAL, ast.IsNot, ast.NotEq)


def narrow(to: Lowering, test: ast.expr, *, holds: bool) -> None:
    """Refine the paths in a test for the branch where the test holds, or does not."""
    narrowed = _TESTS.get(type(test))
    if narrowed is not None:
        narrowed(to, test, holds=holds)
    elif holds and to.path(test):
        _true(to, test)


def never(to: Lowering, test: ast.expr, *, holds: bool) -> bool:
    """Return whether a test has the outcome ``holds`` on other hardware only."""
    return to.runs_elsewhere(test, holds=holds)


def gated(to: Lowering, test: ast.expr, *, holds: bool) -> Slot | None:
    """Return the gate of a branch that depends on the text of a parameter, or None."""
    compared = compared_text(test)
    if compared is None:
        return None
    name, text, is_equal = compared
    slot = to.peek(name)
    return to.once(Op.MAY_BE, (slot,), (text, is_equal is holds)) if slot in to.parameters else None


def isinstance_of(to: Lowering, test: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """Return the value and the classes of ``isinstance(x, (A, B))`` or ``torch.is_tensor(x)``; None for other tests."""
    if not isinstance(test, ast.Call) or not test.args:
        return None
    name = to.module.imported_name(dotted_name(test.func)).rpartition(".")[2]
    if len(test.args) == 2 and name == "isinstance":
        classes = test.args[1]
        return test.args[0], [*classes.elts] if isinstance(classes, ast.Tuple) else [classes]
    return (test.args[0], []) if len(test.args) == 1 and name == "is_tensor" else None


def classes_asked(to: Lowering, classes: list[ast.expr]) -> tuple[tuple[Slot, ...], tuple[str, ...]]:
    """Return the slots of the classes of an ``isinstance``, and their names as written."""
    if not classes:
        return (to.nothing(),), ("torch.Tensor",)
    return tuple([to.peek(each) for each in classes]), tuple([dotted_name(each) for each in classes])


def _true(to: Lowering, test: ast.expr) -> None:
    to.env[to.path(test)] = to.once(Op.TRUE, (to.peek(test),))


def _not(to: Lowering, test: ast.UnaryOp, *, holds: bool) -> None:
    if isinstance(test.op, ast.Not):
        narrow(to, test.operand, holds=not holds)


def _and_or(to: Lowering, test: ast.BoolOp, *, holds: bool) -> None:
    # every part holds in `a and b`, and none does in a failed `a or b`; else nothing is sure
    if isinstance(test.op, ast.And) is holds:
        for part in test.values:
            narrow(to, part, holds=holds)


def _assigned(to: Lowering, test: ast.NamedExpr, *, holds: bool) -> None:
    narrow(to, test.target, holds=holds)


def _attribute(to: Lowering, test: ast.Attribute, *, holds: bool) -> None:
    if test.attr in {"is_cuda", "is_cpu"}:
        on_gpu = (test.attr == "is_cuda") is holds
        _place(to, test.value, Device.CUDA if on_gpu else Device.CPU)
    elif holds and to.path(test):
        _true(to, test)


def _call(to: Lowering, test: ast.Call, *, holds: bool) -> None:
    asked = isinstance_of(to, test)
    if asked is None:
        _called(to, test, holds=holds)
        return
    if not (key := to.path(asked[0])):
        return
    slots, names = classes_asked(to, asked[1])
    to.env[key] = to.once(Op.IS_INSTANCE, (to.peek(asked[0]), to.peek(test.func), *slots), (names, holds))


def _called(to: Lowering, test: ast.Call, *, holds: bool) -> None:
    """Refine the ``x`` of ``exists(x)``, a function of the project that may ask whether its argument is None."""
    if (
        len(test.args) > 1
        or test.keywords
        or not isinstance(test.func, ast.Name)
        or hasattr(builtins, test.func.id)
    ):
        return
    for argument in test.args:
        if key := to.path(argument):
            is_own = isinstance(argument, ast.Name) and key in to.env  # calls set attributes and globals
            to.env[key] = to.once(Op.TESTED, (to.peek(argument), to.peek(test.func)), (holds, is_own))


def _compare(to: Lowering, test: ast.Compare, *, holds: bool) -> None:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if len(test.ops) > 1 or not isinstance(operator, _EQUALITIES):
        return
    equal = isinstance(operator, _EQUAL) is holds
    if not isinstance(right, ast.Constant):
        if equal:
            _of_type(to, left, right)
            _at_device(to, left, right)
    elif right.value is None:
        target = left.target if isinstance(left, ast.NamedExpr) else left
        if key := to.path(target):
            to.env[key] = to.constant(None) if equal else to.once(Op.NOT_NONE, (to.peek(target),))
    elif equal and isinstance(right.value, str) and (tensor := _whose_device(left)) is not None:
        place = {"cuda": Device.CUDA, "cpu": Device.CPU}.get(right.value.partition(":")[0])
        if place is not None:
            _place(to, tensor, place)


def _of_type(to: Lowering, left: ast.expr, right: ast.expr) -> None:
    """Refine the ``x`` of ``type(x) is int`` to an instance of the class."""
    if not isinstance(left, ast.Call) or dotted_name(left.func) != "type" or not to.path(right):
        return
    if len(left.args) == 1 and (key := to.path(left.args[0])):
        slots, names = classes_asked(to, [right])
        to.env[key] = to.once(
            Op.IS_INSTANCE, (to.peek(left.args[0]), to.peek(left.func), *slots), (names, True)
        )


def _at_device(to: Lowering, left: ast.expr, right: ast.expr) -> None:
    """Refine the ``x`` of ``x.device == device`` to a tensor on that device."""
    if isinstance(left, ast.Attribute) and left.attr == "device" and (key := to.path(left.value)):
        to.env[key] = to.once(Op.AT_DEVICE, (to.peek(left.value), to.peek(right)))


def _whose_device(node: ast.expr) -> ast.expr | None:
    """Return the ``x`` of ``x.device.type``."""
    if isinstance(node, ast.Attribute) and node.attr == "type" and isinstance(node.value, ast.Attribute):
        return node.value.value if node.value.attr == "device" else None
    return None


def _place(to: Lowering, node: ast.expr, device: Device) -> None:
    if key := to.path(node):
        to.env[key] = to.once(Op.AT_PLACE, (to.peek(node),), device)


_NARROWED: dict[type[ast.expr], Callable[..., None]] = {
    ast.UnaryOp: _not,
    ast.BoolOp: _and_or,
    ast.Compare: _compare,
    ast.Call: _call,
    ast.NamedExpr: _assigned,
    ast.Attribute: _attribute,
}
_TESTS = {each: narrowed for kind, narrowed in _NARROWED.items() for each in types_of(kind)}
