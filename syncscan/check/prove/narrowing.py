"""The values left of a name where a test holds, or does not."""

from __future__ import annotations

import ast

from syncscan.check.infer.domain.lattice import without_none
from syncscan.check.infer.source.conventions import dtype_class
from syncscan.check.infer.source.index import Class
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.names import name_value
from syncscan.check.prove.values import (
    ANYWHERE,
    NO_TENSOR,
    NONE,
    NUMBER,
    STRING,
    TOP,
    AbstractValue,
    host_arrays,
    is_protocol,
    join_all,
    options_of,
    refine,
)
from syncscan.model import Device, Kind
from syncscan.syntax.names import dotted_name

_NAMED = {
    "builtins.int": NUMBER,
    "builtins.float": NUMBER,
    "builtins.bool": NUMBER,
    "builtins.complex": NUMBER,
    "builtins.str": STRING,
    "builtins.bytes": STRING,
    "builtins.list": AbstractValue(Kind.LIST, element=TOP),
    "builtins.tuple": AbstractValue(Kind.TUPLE, element=TOP),
    "builtins.dict": AbstractValue(Kind.DICT, element=TOP),
    "builtins.set": AbstractValue(Kind.SET, element=TOP),
    "builtins.slice": AbstractValue(Kind.SLICE),
    "torch.Tensor": ANYWHERE,
    "torch.nn.Parameter": ANYWHERE,
    "torch.device": AbstractValue(Kind.DEVICE, Device.MIXED),
    "torch.dtype": AbstractValue(Kind.DTYPE),
    "numpy.ndarray": AbstractValue(Kind.NDARRAY),
    "types.NoneType": NONE,
}  # fmt: skip


def narrow(frame: WalkFrame, test: ast.expr, *, holds: bool) -> None:
    """Narrow the names of a test."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(frame, test.operand, holds=not holds)
    elif isinstance(test, ast.BoolOp):
        for part in test.values if isinstance(test.op, ast.And) is holds else ():
            narrow(frame, part, holds=holds)
    elif isinstance(test, ast.NamedExpr):
        narrow(frame, test.target, holds=holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        _compare(frame, test, holds=holds)
    elif isinstance(test, ast.Call):
        _call(frame, test, holds=holds)
    else:
        _flag(frame, test, holds=holds)


def _flag(frame: WalkFrame, test: ast.expr, *, holds: bool) -> None:
    if isinstance(test, ast.Attribute) and test.attr in {"is_cuda", "is_cpu"}:
        on_gpu = (test.attr == "is_cuda") is holds
        _place(frame, test.value, Device.CUDA if on_gpu else Device.CPU)
    elif isinstance(test, ast.Name) and holds and test.id in frame.env:
        frame.refine(test.id, _without_none(frame.env[test.id]))


def _without_none(value: AbstractValue) -> AbstractValue:
    return value if value is NONE else without_none(value)


def _compare(frame: WalkFrame, test: ast.Compare, *, holds: bool) -> None:
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    if not isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        return
    equal = isinstance(operator, (ast.Is, ast.Eq)) is holds
    if isinstance(left, ast.NamedExpr):
        left = left.target
    if isinstance(right, ast.Constant) and right.value is None:
        _none(frame, left, operator, equal=equal)
    elif (placed := _whose_device(left)) is not None:
        place = str(right.value).partition(":")[0] if isinstance(right, ast.Constant) else ""
        if place == "cpu" and equal:
            _place(frame, placed, Device.CPU)
        elif place == "cuda":
            _place(frame, placed, Device.CUDA if equal else Device.CPU)
    elif equal:
        _form(frame, left, right)


def _none(frame: WalkFrame, left: ast.expr, operator: ast.cmpop, *, equal: bool) -> None:
    """Narrow a name that is compared with None."""
    if not isinstance(left, ast.Name) or left.id not in frame.env:
        return
    if not equal:
        frame.refine(left.id, _without_none(frame.env[left.id]))
    elif isinstance(operator, (ast.Is, ast.IsNot)):
        frame.refine(left.id, NONE)


def _form(frame: WalkFrame, left: ast.expr, right: ast.expr) -> None:
    """Narrow the ``x`` of ``x.dtype == torch.int64``, ``x.ndim == 1`` or ``x.dim() == 1``."""
    if isinstance(left, ast.Attribute) and left.attr == "dtype":
        _tell(frame, left.value, dtype=_dtype_named(frame, right))
    elif isinstance(right, ast.Constant) and type(right.value) is int:
        _tell(frame, _whose_dimensions(left), ndim=right.value)


def _dtype_named(frame: WalkFrame, node: ast.expr) -> str | None:
    """Return the class of a dtype of torch that an expression names, or None."""
    path = dotted_name(node)
    name = "" if path.partition(".")[0] in frame.env else frame.module.imported_name(path)
    return dtype_class(name) if name == f"torch.{name.rpartition('.')[2]}" else None


def _whose_dimensions(node: ast.expr) -> ast.expr | None:
    """Return the ``x`` of ``x.ndim`` or ``x.dim()``."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        method = node.func
        return method.value if isinstance(method, ast.Attribute) and method.attr == "dim" else None
    return node.value if isinstance(node, ast.Attribute) and node.attr == "ndim" else None


def _tell(
    frame: WalkFrame, node: ast.expr | None, *, dtype: str | None = None, ndim: int | None = None
) -> None:
    """Record the dtype or the number of dimensions of what a name is, as far as it is a tensor."""
    if not isinstance(node, ast.Name) or node.id not in frame.env or _changes_forms(frame.function.node):
        return
    frame.assume("no code changes the dtype or the dimensions of a tensor in place behind a test of them")
    value = frame.env[node.id]
    told = [
        refine(each, dtype=dtype or each.dtype, ndim=each.ndim if ndim is None else ndim)
        if each.kind is Kind.TENSOR
        else each
        for each in options_of(value)
    ]
    frame.refine(node.id, join_all(told))


def _changes_forms(function: ast.AST) -> bool:
    """Return whether a function may change the dtype or the dimensions of a tensor in place."""
    names = (
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in ast.walk(function)
        if isinstance(each, (ast.Attribute, ast.Name))
    )
    return any(name in _CHANGE_FORMS for name in names)


_CHANGE_FORMS = frozenset({
    "data", "setattr", "set_", "set_data", "resize_", "resize_as_", "squeeze_", "unsqueeze_", "swap_tensors", "__setattr__", "as_strided_",
})  # fmt: skip


def _whose_device(node: ast.expr) -> ast.expr | None:
    """Return the ``x`` of ``x.device.type``."""
    if (
        not isinstance(node, ast.Attribute)
        or node.attr != "type"
        or not isinstance(node.value, ast.Attribute)
    ):
        return None
    return node.value.value if node.value.attr == "device" else None


def _place(frame: WalkFrame, node: ast.expr, device: Device) -> None:
    """Bind a tensor to a place."""
    if not isinstance(node, ast.Name) or node.id not in frame.env:
        return
    value = frame.env[node.id]
    if value.kind is Kind.TENSOR:
        frame.refine(node.id, refine(value, device=device))
    elif value is TOP:
        frame.refine(node.id, refine(ANYWHERE, device=device) if device is Device.CUDA else NO_GPU)
    elif value.kind is Kind.UNION:
        found = [
            refine(each, device=device) if each.kind is Kind.TENSOR else each for each in value.items or ()
        ]
        frame.refine(node.id, join_all(found))


_OF_TENSORS = frozenset(
    {
        "shape",
        "dtype",
        "device",
        "ndim",
        "T",
        "grad",
        "data",
        "__len__",
        "__iter__",
        "__getitem__",
        "__call__",
    }
)
NO_GPU = refine(ANYWHERE, device=Device.CPU)  # a tensor on the host


def _call(frame: WalkFrame, test: ast.Call, *, holds: bool) -> None:
    name = frame.module.imported_name(dotted_name(test.func))
    if not test.args or not isinstance(test.args[0], ast.Name) or test.args[0].id not in frame.env:
        return
    target = test.args[0].id
    if name == "torch.is_tensor" and len(test.args) == 1:
        found = [ANYWHERE]
    elif name == "isinstance" and len(test.args) == 2:
        second = test.args[1]
        classes = [*second.elts] if isinstance(second, ast.Tuple) else [second]
        found = [_of_class(frame, each) for each in classes]
    else:
        return
    value = frame.env[target]
    if holds:
        frame.refine(target, _met(value, found))
    elif ANYWHERE in found:
        frame.refine(target, _without_tensors(value))
    else:
        frame.refine(target, _without(value, found))


def _without(value: AbstractValue, found: list[AbstractValue]) -> AbstractValue:
    """Return a value without some options, of kinds that no other option shares."""
    gone = {each.kind for each in found} & {Kind.NDARRAY, Kind.SLICE, Kind.STRING}
    left = [each for each in value.items or () if each.kind not in gone] if value.kind is Kind.UNION else []
    return join_all(left) if left else value


def _of_class(frame: WalkFrame, node: ast.expr) -> AbstractValue:
    """Return the value of an object of a class."""
    head = dotted_name(node)
    if not head:
        return TOP
    value = name_value(frame, head.partition(".")[0])
    for part in head.split(".")[1:]:
        is_outside = value.kind is Kind.MODULE and isinstance(value.payload, str)
        value = AbstractValue(Kind.MODULE, payload=f"{value.payload}.{part}") if is_outside else TOP
    cls = value.payload
    if isinstance(cls, Class):
        answers = [
            each
            for meta in frame.source.metaclasses(cls)
            for each in frame.source.overrides(meta, "__instancecheck__")
        ]
        if answers or frame.source.overrides(cls, "__subclasshook__"):
            return TOP  # the class itself decides
        if is_protocol(cls):
            return NO_TENSOR if _excludes_tensors(frame, cls) else TOP
        return AbstractValue(Kind.INSTANCE, payload=cls)
    return _NAMED.get(value.payload, TOP) if isinstance(value.payload, str) else TOP


def _excludes_tensors(frame: WalkFrame, protocol: Class) -> bool:
    """Return whether a protocol asks for something that no tensor has."""
    members = {name for each in protocol.mro() for name in (*each.methods, *each.annotations)}
    return any(
        frame.source.operation(f"torch.Tensor.{name}") is None and name not in _OF_TENSORS for name in members
    )


def _met(value: AbstractValue, found: list[AbstractValue]) -> AbstractValue:
    """Return the meet of two values."""
    if TOP in found:
        return value
    if NO_TENSOR in found:  # an object of a protocol, of whichever class
        return _without_tensors(value)
    kinds = {each.kind for each in found}
    if value is TOP or value is NO_TENSOR:
        return join_all(each if each.kind is not Kind.NDARRAY else host_arrays() for each in found)
    left = [
        each for each in (value.items or () if value.kind is Kind.UNION else (value,)) if each.kind in kinds
    ]
    return join_all(left) if left else join_all(found)


def _without_tensors(value: AbstractValue) -> AbstractValue:
    if value is TOP:
        return NO_TENSOR
    if value.kind is Kind.UNION:
        left = [each for each in value.items or () if each.kind is not Kind.TENSOR]
        return join_all(left) if left else value
    return value
