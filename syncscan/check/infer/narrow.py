"""What a test tells of the names in it: ``x is None``, ``isinstance``, ``x.is_cuda``, ``x.device.type``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.check.infer.index import Class, dotted_name
from syncscan.check.infer.values import NONE, as_tensor, join_all, refine, without_none
from syncscan.model import UNKNOWN, Device, Kind, Value

Environment = dict[str, Value]

_KINDS = {
    "torch.Tensor": {Kind.TENSOR},
    "Tensor": {Kind.TENSOR},
    "np.ndarray": {Kind.NDARRAY},
    "numpy.ndarray": {Kind.NDARRAY},
    "int": {Kind.NUMBER},
    "float": {Kind.NUMBER},
    "bool": {Kind.NUMBER},
    "str": {Kind.STRING},
    "list": {Kind.LIST},
    "tuple": {Kind.TUPLE},
    "dict": {Kind.DICT},
}


def narrow(test: ast.expr, env: Environment, value_of: Callable[[ast.expr], Value], *, holds: bool) -> None:
    """Refine ``env`` for the path on which ``test`` holds, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(test.operand, env, value_of, holds=not holds)
    elif isinstance(test, ast.BoolOp):
        # every part holds in `a and b`, and none does in a failed `a or b`; else nothing is sure
        if isinstance(test.op, ast.And) is holds:
            for part in test.values:
                narrow(part, env, value_of, holds=holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        _compare(test.left, test.ops[0], test.comparators[0], env, value_of, holds=holds)
    elif isinstance(test, ast.Call):
        if dotted_name(test.func) == "isinstance" and len(test.args) == 2:
            _isinstance(test.args[0], test.args[1], env, value_of, holds=holds)
    elif isinstance(test, ast.NamedExpr):
        narrow(test.target, env, value_of, holds=holds)
    elif isinstance(test, ast.Attribute) and test.attr in {"is_cuda", "is_cpu"}:
        on_gpu = (test.attr == "is_cuda") is holds
        _place(test.value, Device.CUDA if on_gpu else Device.CPU, env, value_of)
    elif holds and (key := key_of(test)):
        value = value_of(test)
        if value.kind is Kind.UNION:
            env[key] = without_none(value)


def _compare(
    left: ast.expr,
    operator: ast.cmpop,
    right: ast.expr,
    env: Environment,
    value_of: Callable[[ast.expr], Value],
    *,
    holds: bool,
) -> None:
    equal = isinstance(operator, (ast.Is, ast.Eq)) is holds
    if not isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) or not isinstance(
        right, ast.Constant
    ):
        return
    if right.value is None:
        target = left.target if isinstance(left, ast.NamedExpr) else left
        if key := key_of(target):
            env[key] = NONE if equal else without_none(value_of(target))
    elif equal and isinstance(right.value, str) and (tensor := _whose_device(left)) is not None:
        place = {"cuda": Device.CUDA, "cpu": Device.CPU}.get(right.value.partition(":")[0])
        if place is not None:
            _place(tensor, place, env, value_of)


def _whose_device(node: ast.expr) -> ast.expr | None:
    """The ``x`` of ``x.device.type``."""
    if isinstance(node, ast.Attribute) and node.attr == "type" and isinstance(node.value, ast.Attribute):
        return node.value.value if node.value.attr == "device" else None
    return None


def _place(node: ast.expr, device: Device, env: Environment, value_of: Callable[[ast.expr], Value]) -> None:
    key = key_of(node)
    if not key:
        return
    value = value_of(node)
    if value.kind is Kind.TENSOR and value.device is not device:
        env[key] = refine(value, device=device)
    elif value.kind is Kind.UNKNOWN:
        env[key] = Value(Kind.TENSOR, device)


def _isinstance(
    node: ast.expr, classes: ast.expr, env: Environment, value_of: Callable[[ast.expr], Value], *, holds: bool
) -> None:
    key = key_of(node)
    if not key:
        return
    items = classes.elts if isinstance(classes, ast.Tuple) else [classes]
    value = value_of(node)
    if all(dotted_name(item) in _KINDS for item in items):
        kinds = set().union(*(_KINDS[dotted_name(item)] for item in items))
        env[key] = _of_kinds(value, kinds, holds=holds)
        return
    named = [value_of(item).payload for item in items]
    wanted = [cls for cls in named if isinstance(cls, Class)]
    if len(wanted) == len(items):
        env[key] = _of_classes(value, wanted, holds=holds)


def _of_kinds(value: Value, kinds: set[Kind], *, holds: bool) -> Value:
    if value.kind is Kind.UNION:
        return join_all(item for item in value.items or () if (item.kind in kinds) is holds)
    if holds and value.kind is Kind.MOVED and Kind.TENSOR in kinds:
        return as_tensor(value)
    if not holds or value.kind in kinds:
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


def key_of(node: ast.AST) -> str:
    """The name under which a path such as ``self.x`` or ``d["k"]`` is kept in an environment, or ""."""
    try:
        return node._key  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        key = _key(node)
        node._key = key  # type: ignore[attr-defined]
        return key


def _key(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = key_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = key_of(node.value)
        return f"{base}[{node.slice.value!r}]" if base else ""
    return ""
