"""Factories called in host memory, rewritten to create the tensor on the GPU, where the elements are the same."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from syncscan.model import Kind
from syncscan.rule import Facts

from ._code import CallCode, edited
from ._numbers import fills_alike, fills_dtype, fills_exactly
from ._shared import filled, given, index_parts, keywords_of, unpacks

_FILLED = {"torch.tensor": "data", "torch.full": "fill_value"}  # the parameters that say what to fill with
_DECIDES_THE_PLACE = {"device", "pin_memory", "out", "requires_grad"}
_WIDE = {"float", "float32", "double", "float64", "int", "int32", "long", "int64"}

# The GPU rounds these as the CPU does; a quotient, a power or a function may differ in the last bit.
_EXACT = (ast.Add, ast.Sub, ast.Mult)
_COMPARED = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_DENSE = frozenset(
    f"torch.Tensor.{name}"
    for name in (
        "float",
        "double",
        "half",
        "bfloat16",
        "int",
        "long",
        "bool",
        "unsqueeze",
        "clone",
        "contiguous",
        "t",
        "tril",
        "triu",
        "transpose",
    )
)
TRIANGLES = frozenset(
    {"torch.tril", "torch.triu"}
)  # functions of a tensor, which have methods of the same names


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """The code of a device; plain code may be written more than once, and anywhere."""

    code: str
    is_plain: bool


def made_on(source: ast.expr, device: DeviceCode, facts: Facts) -> str | None:
    """Return the expression with ``device=`` in each factory call; None where elements or errors may differ on the GPU."""
    if isinstance(source, ast.Call) and facts.name_of(source.func) not in _DENSE | TRIANGLES:
        return _factory_on(source, device, facts)
    if not device.is_plain:
        return None  # the device would be evaluated more than once, or before other operands
    if isinstance(source, ast.BinOp):
        return _arithmetic_on(source, device, facts)
    if isinstance(source, ast.Compare):
        return _comparison_on(source, device, facts)
    inner = tensor_of(source, facts) if _keeps_all(source, facts) else None
    made = made_on(inner, device, facts) if inner is not None else None
    return edited(source, {inner: made}, facts) if inner is not None and made is not None else None


def _arithmetic_on(source: ast.BinOp, device: DeviceCode, facts: Facts) -> str | None:
    sides = [side for side in (source.left, source.right) if not _is_number(side, facts)]
    made = {side: made_on(side, device, facts) for side in sides}
    edits: dict[ast.AST, str] = {side: code for side, code in made.items() if code is not None}
    is_made = isinstance(source.op, _EXACT) and len(edits) == len(made) > 0
    return edited(source, edits, facts) if is_made else None


def _comparison_on(source: ast.Compare, device: DeviceCode, facts: Facts) -> str | None:
    left = made_on(source.left, device, facts)
    if left is None or len(source.ops) != 1:
        return None
    compares = isinstance(source.ops[0], _COMPARED) and _is_number(source.comparators[0], facts)
    return edited(source, {source.left: left}, facts) if compares else None


def _is_number(node: ast.expr, facts: Facts) -> bool:
    return facts.of(node).kind is Kind.NUMBER


def tensor_of(source: ast.expr, facts: Facts) -> ast.expr | None:
    """Return the tensor of an index, a sign, a method call, or a function such as `torch.tril`."""
    if isinstance(source, ast.Subscript):
        return source.value
    if isinstance(source, ast.UnaryOp):
        return source.operand
    if not isinstance(source, ast.Call):
        return None
    if facts.name_of(source.func) in TRIANGLES:
        return next(iter(source.args), None)
    return source.func.value if isinstance(source.func, ast.Attribute) else None


def _keeps_all(source: ast.expr, facts: Facts) -> bool:
    """Return whether an operation on one tensor returns every element, in equally dense memory."""
    if isinstance(source, ast.Subscript):
        return all(map(_is_whole, index_parts(source)))
    if isinstance(source, ast.Call):
        others = [each for each in given(source) if each is not tensor_of(source, facts)]
        return not unpacks(source) and all(_is_number(argument, facts) for argument in others)
    return isinstance(source, ast.UnaryOp) and isinstance(source.op, ast.USub)


def _is_whole(part: ast.expr) -> bool:
    """Return whether a part of an index is ``None``, ``...`` or ``:``, which leave out no element."""
    if isinstance(part, ast.Slice):
        return part.lower is None and part.upper is None and part.step is None
    return isinstance(part, ast.Constant) and (part.value is None or part.value is ...)


def _factory_on(source: ast.Call, device: DeviceCode, facts: Facts) -> str | None:
    if unpacks(source) or keywords_of(source) & _DECIDES_THE_PLACE or not is_alike(source, facts):
        return None
    made = filled(source, facts) if facts.name_of(source.func) == "torch.tensor" else CallCode(source, facts)
    return made.with_argument("device", device.code).whole() if made is not None else None


def is_exact(source: ast.expr, facts: Facts) -> bool:
    """Return whether a factory call creates the same on the GPU in every case, and raises the same errors."""
    if not isinstance(source, ast.Call) or not is_alike(source, facts):
        return False
    number = _number(source, facts)
    if number is not None:
        return fills_exactly(number, source, facts)
    if facts.name_of(source.func) in {"torch.zeros", "torch.ones", "torch.empty"}:
        return fills_dtype(source, facts)
    # only the GPU makes `eye` of uint16, uint32, uint64 and complex32 (torch 2.11, H200)
    return (
        facts.name_of(source.func) in {"torch.eye", "torch.arange"}
        and facts.argument(source, "dtype") is None
    )


def is_alike(source: ast.Call, facts: Facts) -> bool:
    """Return whether the elements are the same when the tensor is created on the GPU."""
    name = facts.name_of(source.func)
    if name in {"torch.zeros", "torch.ones", "torch.empty", "torch.eye"}:
        return True
    if name == "torch.arange":  # fractions may be rounded differently
        named = (keyword.value for keyword in source.keywords if keyword.arg in {"start", "end", "step"})
        numbers = [*source.args, *named]
        return all(facts.of(number).dtype == "int" for number in numbers) and _holds_integers(source, facts)
    number = _number(source, facts)
    return number is not None and fills_alike(number, source, facts)


def _number(source: ast.Call, facts: Facts) -> ast.expr | None:
    parameter = _FILLED.get(facts.name_of(source.func))
    return facts.argument(source, parameter) if parameter is not None else None


def _holds_integers(source: ast.Call, facts: Facts) -> bool:
    """Return whether the dtype of a range is the default integer dtype, or rounds no integer below 2**24."""
    dtype = facts.argument(source, "dtype")
    return dtype is None or (isinstance(dtype, ast.Attribute) and dtype.attr in _WIDE)
