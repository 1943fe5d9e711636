"""What a test tells of the names in it: ``x is None``, ``isinstance``, ``x.is_cuda``, ``x.device.type``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.known.cells import ANY_TEXT
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.source.syntax import dotted_name
from syncscan.check.infer.source.trees import types_of
from syncscan.check.infer.source.uses import compared_text
from syncscan.check.infer.values.basic import NONE, refine
from syncscan.check.infer.values.lattice import as_tensor, join_all, without_none
from syncscan.model import UNKNOWN, Device, Kind, Value
from syncscan.ops.inferred import device_named

_KINDS = {
    "torch.Tensor": Kind.TENSOR,
    "Tensor": Kind.TENSOR,
    "numpy.ndarray": Kind.NDARRAY,
    "builtins.int": Kind.NUMBER,
    "builtins.float": Kind.NUMBER,
    "builtins.bool": Kind.NUMBER,
    "builtins.str": Kind.STRING,
    "builtins.list": Kind.LIST,
    "builtins.tuple": Kind.TUPLE,
    "builtins.dict": Kind.DICT,
}


def narrow(frame: Frame, test: ast.expr, *, holds: bool) -> None:
    """Refine the environment for the path on which ``test`` holds, or does not."""
    narrowed = _TESTS.get(type(test))
    if narrowed is not None:
        narrowed(frame, test, holds=holds)
    elif holds and frame.path(test):
        _true(frame, test)


def never(frame: Frame, test: ast.expr, *, holds: bool) -> bool:
    """Whether a test does not come out as ``holds``: of a text that no caller passes, or on other hardware only."""
    if frame.context.runs_elsewhere(test, holds=holds):
        return True
    compared = compared_text(test)
    if compared is None or compared[2] is not holds:
        return False
    name, text, _ = compared
    value = frame.peek(name)
    if not any(passed is value for passed in frame.texts_of.values()):
        return False
    texts = frame.texts(value)
    return bool(texts) and texts.isdisjoint({text, ANY_TEXT}) and value.kind is not Kind.UNKNOWN


def contradicts(frame: Frame, test: ast.expr, *, holds: bool) -> bool:
    """Whether a test comes out as ``holds`` only for other values than those known: ``not isinstance(x, Tensor)`` of a tensor."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return contradicts(frame, test.operand, holds=not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        return any(contradicts(frame, part, holds=holds) for part in test.values)
    if holds or not isinstance(test, ast.Call):
        return False
    kinds = _kinds_asked(frame, test)
    return bool(kinds) and _is_always(frame.peek(test.args[0]), kinds)


def _true(frame: Frame, test: ast.expr) -> None:
    value = frame.peek(test)
    if value.kind is Kind.UNION:
        frame.env[frame.path(test)] = without_none(value)


def _not(frame: Frame, test: ast.UnaryOp, *, holds: bool) -> None:
    if isinstance(test.op, ast.Not):
        narrow(frame, test.operand, holds=not holds)


def _and_or(frame: Frame, test: ast.BoolOp, *, holds: bool) -> None:
    # every part holds in `a and b`, and none does in a failed `a or b`; else nothing is sure
    if isinstance(test.op, ast.And) is holds:
        for part in test.values:
            narrow(frame, part, holds=holds)


def _assigned(frame: Frame, test: ast.NamedExpr, *, holds: bool) -> None:
    narrow(frame, test.target, holds=holds)


def _attribute(frame: Frame, test: ast.Attribute, *, holds: bool) -> None:
    if test.attr in {"is_cuda", "is_cpu"}:
        on_gpu = (test.attr == "is_cuda") is holds
        _place(frame, test.value, Device.CUDA if on_gpu else Device.CPU)
    elif holds and frame.path(test):
        _true(frame, test)


def _call(frame: Frame, test: ast.Call, *, holds: bool) -> None:
    key = frame.path(test.args[0]) if test.args else ""
    if not key:
        return
    if kinds := _kinds_asked(frame, test):
        frame.env[key] = _of_kinds(frame.peek(test.args[0]), kinds, holds=holds)
    elif _asks_instance(frame, test):
        _of_classes_asked(frame, key, test, holds=holds)


def _compare(frame: Frame, test: ast.Compare, *, holds: bool) -> None:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if len(test.ops) > 1 or not isinstance(operator, _EQUALITIES):
        return
    equal = isinstance(operator, _EQUAL) is holds
    if not isinstance(right, ast.Constant):
        if equal and isinstance(left, ast.Attribute) and left.attr == "device":
            _at_device(frame, left.value, frame.peek(right))
    elif right.value is None:
        target = left.target if isinstance(left, ast.NamedExpr) else left
        if key := frame.path(target):
            frame.env[key] = NONE if equal else without_none(frame.peek(target))
    elif equal and isinstance(right.value, str) and (tensor := _whose_device(left)) is not None:
        place = {"cuda": Device.CUDA, "cpu": Device.CPU}.get(right.value.partition(":")[0])
        if place is not None:
            _place(frame, tensor, place)


_EQUAL = (ast.Is, ast.Eq)
_EQUALITIES = (*_EQUAL, ast.IsNot, ast.NotEq)
_NARROWED: dict[type[ast.expr], Callable[..., None]] = {
    ast.UnaryOp: _not,
    ast.BoolOp: _and_or,
    ast.Compare: _compare,
    ast.Call: _call,
    ast.NamedExpr: _assigned,
    ast.Attribute: _attribute,
}
_TESTS = {each: narrowed for kind, narrowed in _NARROWED.items() for each in types_of(kind)}


def _whose_device(node: ast.expr) -> ast.expr | None:
    """The ``x`` of ``x.device.type``."""
    if isinstance(node, ast.Attribute) and node.attr == "type" and isinstance(node.value, ast.Attribute):
        return node.value.value if node.value.attr == "device" else None
    return None


def _at_device(frame: Frame, node: ast.expr, device: Value) -> None:
    """Take down that ``x.device`` is some device, if that is one."""
    place = device_named(device)
    if device.kind is Kind.DEVICE and place in {Device.CUDA, Device.CPU}:
        _place(frame, node, place)


def _place(frame: Frame, node: ast.expr, device: Device) -> None:
    key = frame.path(node)
    if not key:
        return
    value = frame.peek(node)
    if value.kind is Kind.TENSOR and value.device is not device:
        frame.env[key] = refine(value, device=device)
    elif value.kind is Kind.UNKNOWN:
        frame.env[key] = Value(Kind.TENSOR, device)


def _asks_instance(frame: Frame, test: ast.Call) -> bool:
    return len(test.args) == 2 and full_name(frame, test.func) == "builtins.isinstance"


def _kinds_asked(frame: Frame, test: ast.Call) -> set[Kind]:
    """The kinds of which ``isinstance(x, (Tensor, int))`` or ``torch.is_tensor(x)`` asks whether x is one; none if it asks else."""
    if len(test.args) == 1 and full_name(frame, test.func) == "torch.is_tensor":
        return {Kind.TENSOR}
    if not _asks_instance(frame, test):
        return set()
    names = [full_name(frame, item) for item in _classes_of(test)]
    return {_KINDS[name] for name in names} if all(name in _KINDS for name in names) else set()


def _classes_of(test: ast.Call) -> list[ast.expr]:
    classes = test.args[1]
    return classes.elts if isinstance(classes, ast.Tuple) else [classes]


def _of_classes_asked(frame: Frame, key: str, test: ast.Call, *, holds: bool) -> None:
    named = [frame.peek(item).payload for item in _classes_of(test)]
    wanted = [cls for cls in named if isinstance(cls, Class)]
    if len(wanted) == len(named):
        frame.env[key] = _of_classes(frame.peek(test.args[0]), wanted, holds=holds)


def _is_always(value: Value, kinds: set[Kind]) -> bool:
    """Whether a value is of one of these kinds; a whole number may still be no ``int``, for numbers are one kind."""
    return value.kind in kinds - {Kind.NUMBER}


def _of_kinds(value: Value, kinds: set[Kind], *, holds: bool) -> Value:
    if value.kind is Kind.UNION:
        return join_all(item for item in value.items or () if (item.kind in kinds) is holds)
    if holds and value.kind is Kind.MOVED and Kind.TENSOR in kinds:
        return as_tensor(value)
    if not holds:
        return UNKNOWN if _is_always(value, kinds) else value
    if value.kind in kinds:
        return value
    return Value(next(iter(kinds))) if value.kind is Kind.UNKNOWN and len(kinds) == 1 else UNKNOWN


def _of_classes(value: Value, wanted: list[Class], *, holds: bool) -> Value:
    """What is left of a value that is an instance of one of these classes of the project, or of none."""
    options = value.items if value.kind is Kind.UNION and value.items else (value,)
    inside = [
        option
        for option in options
        if isinstance(option.payload, Class) and any(cls in option.payload.mro() for cls in wanted)
    ]
    if not holds:
        return join_all(option for option in options if option not in inside)
    return join_all(inside or [Value(Kind.INSTANCE, payload=cls) for cls in wanted])


def full_name(frame: Frame, node: ast.expr) -> str:
    """The full name of something outside the project that a path stands for; the path itself where not known."""
    path = dotted_name(node)
    known = frame.peek(node).payload if path else None
    return known if isinstance(known, str) else path
