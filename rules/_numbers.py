"""Numbers that a fill on the GPU stores exactly as a copy does, for every dtype.

A copy of a number that its dtype does not hold becomes infinite. A fill on the GPU with such a number raises an error.
`torch.tensor` refuses negative numbers and floats for `torch.uint64`, and a fill refuses 0.0 for `torch.float8_e8m0fnu`.
`tests/rules/test_safe_fixes.py` compares all of this with torch.
"""

from __future__ import annotations

import ast
import math

from syncscan.model import Kind
from syncscan.rule import Facts

_INT8_MAX = 127  # the least that any dtype holds
_INT64_MAX = 2**63 - 1
_FLOAT16_MAX = 65504  # of the smallest dtype that torch.set_default_dtype takes
_FLOATS: dict[str, float] = {  # the largest float that a dtype surely holds, by its name
    "float16": _FLOAT16_MAX,
    "half": _FLOAT16_MAX,
    "bfloat16": 3e38,
    "float32": 3e38,
    "float": 3e38,
    "float64": 1e308,
    "double": 1e308,
}
_INTEGERS: dict[str, float] = {  # the largest integer, and exactly
    **dict.fromkeys(_FLOATS, 2**8),
    "int8": _INT8_MAX,
    "int16": 2**15 - 1,
    "short": 2**15 - 1,
    "int32": 2**31 - 1,
    "int": 2**31 - 1,
    "int64": _INT64_MAX,
    "long": _INT64_MAX,
}

# Dtypes that the GPU fills as the host does. It has no fill for `torch.bits16` and its like (torch 2.11, H200).
_FILLED = {*_INTEGERS, "uint8", "bool", "chalf", "complex32", "complex64", "cfloat", "complex128", "cdouble"}


def fills_dtype(call: ast.Call, facts: Facts) -> bool:
    """Return whether the GPU surely fills a tensor of a call's dtype, or of the default dtype."""
    dtype = facts.argument(call, "dtype")
    if isinstance(dtype, ast.Attribute):
        return facts.of(dtype).kind is Kind.DTYPE and dtype.attr in _FILLED
    return dtype is None or facts.name_of(dtype) in {
        "builtins.float",
        "builtins.int",
        "builtins.bool",
        "None",
    }


def fills_exactly(number: ast.expr, call: ast.Call, facts: Facts) -> bool:
    """Return whether `torch.full` on the GPU equals the copied result of `torch.tensor` or `torch.full`.

    In ``a if test else b``, both numbers must.
    """
    values = [_written_out(each) for each in _alternatives(number)]
    dtype = next((keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None)
    if len({type(value) for value in values}) > 1:
        return False  # nor is the dtype the same
    return all(value is not None and _is_exact(value, dtype, facts) for value in values)


def _alternatives(number: ast.expr) -> list[ast.expr]:
    if isinstance(number, ast.IfExp):
        return [*_alternatives(number.body), *_alternatives(number.orelse)]
    return [number]


def _is_exact(value: float, dtype: ast.expr | None, facts: Facts) -> bool:
    largest = _largest_default(value) if dtype is None else _largest(value, dtype, facts)
    return abs(value) <= largest or (largest > 0 and isinstance(value, float) and not math.isfinite(value))


def fills_alike(number: ast.expr, call: ast.Call, facts: Facts) -> bool:
    """Return whether `torch.full` equals `torch.tensor` wherever no error is raised.

    An exception is 0.0 of `torch.float8_e8m0fnu`.
    """
    value = _written_out(number)
    dtype = facts.argument(call, "dtype")
    is_small = isinstance(value, float) and (0 <= value <= _INT8_MAX or not math.isfinite(value))
    if is_length(number, facts) or _is_number(number, call, facts):
        return dtype is None or (facts.of(dtype).kind is Kind.DTYPE and last_part(dtype) in _TAKE_LENGTHS)
    return fills_exactly(number, call, facts) or (dtype is not None and is_small)


_TAKE_LENGTHS = frozenset({"int64", "long", "int32", "int", "float32", "float", "float64", "double"})
# A float may be too large: a copy makes it infinite, and a fill raises.
_OF_PYTHON = frozenset({"bool", "int"})
_LENGTHS = frozenset({"torch.Tensor.size", "torch.Tensor.numel", "torch.Tensor.dim"})


def is_length(node: ast.expr, facts: Facts) -> bool:
    """Return whether a node is a plain integer that counts: ``len(x)``, ``t.shape[0]``, ``t.size(0)``, ``t.numel()``."""
    if isinstance(node, ast.Call):
        name = facts.name_of(node.func)
        return name == "builtins.len" or (name in _LENGTHS and facts.of(node).kind is Kind.NUMBER)
    return (
        isinstance(node, ast.Subscript)
        and not isinstance(node.slice, ast.Slice)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
        and facts.of(node.value.value).kind in {Kind.TENSOR, Kind.NDARRAY, Kind.UNKNOWN}
    )


def _is_number(node: ast.expr, call: ast.Call, facts: Facts) -> bool:
    """Return whether a variable holds a truth value or an integer. An integer that requires a gradient is another error."""
    value = facts.of(node)
    is_whole = value.kind is Kind.NUMBER and value.dtype in _OF_PYTHON
    is_plain = not isinstance(node, ast.Constant) and _is_plain(node, facts)
    return is_plain and is_whole and not facts.argument(call, "requires_grad")


def _is_plain(node: ast.expr, facts: Facts) -> bool:
    """Return whether a node is a name, an attribute, a length, or a sum or product of such; a quotient is no integer."""
    if isinstance(node, ast.BinOp):
        is_whole = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod))
        return is_whole and _is_plain(node.left, facts) and _is_plain(node.right, facts)
    return isinstance(node, (ast.Name, ast.Attribute, ast.Constant)) or is_length(node, facts)


def last_part(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else ""


def stores_exactly(number: ast.expr) -> bool:
    """Return whether `fill_` equals a store, into a tensor of any dtype."""
    value = _written_out(number)
    return isinstance(value, int) and abs(value) <= _INT8_MAX


def fits_any_dtype(number: ast.expr) -> bool:
    """Return whether every dtype accepts a fill with a number that a store accepts."""
    value = _written_out(number)
    return stores_exactly(number) or (isinstance(value, float) and 0 <= value <= _INT8_MAX)


def _largest_default(value: float) -> float:
    return _INT64_MAX if isinstance(value, int) else _FLOAT16_MAX


def _largest(value: float, dtype: ast.expr, facts: Facts) -> float:
    """Return the largest number up to which a dtype is exact; -1 where a number such as this one may be refused."""
    is_int = isinstance(value, int)
    if isinstance(dtype, ast.Attribute) and facts.of(dtype).kind is Kind.DTYPE:
        by_name = _INTEGERS if is_int else _FLOATS
        if dtype.attr in by_name:
            return by_name[dtype.attr]
    return _INT8_MAX if is_int and value >= 0 else -1


def _written_out(node: ast.expr) -> float | None:
    """Return the literal number or truth value, with its sign or without, or ``float("inf")``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _written_out(node.operand)
        return -value if value is not None and isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        text = node.args[0] if len(node.args) == 1 and not node.keywords else None
        known = isinstance(text, ast.Constant) and text.value in {"inf", "-inf", "nan"}
        return math.inf if known else None
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    return None
