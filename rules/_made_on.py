"""What factories make in host memory, made on the GPU in the first place, where the elements are the same there."""

from __future__ import annotations

import libcst as cst

from syncscan.model import Kind
from syncscan.rule import Facts

from ._numbers import fills_alike, fills_dtype, fills_exactly
from ._shared import filled, set_argument, unpacks

_FILLED = {"torch.tensor": "data", "torch.full": "fill_value"}  # the parameters that say what to fill with
_DECIDES_THE_PLACE = {"device", "pin_memory", "out", "requires_grad"}
_WIDE = {"float", "float32", "double", "float64", "int", "int32", "long", "int64"}

# The GPU rounds these as the CPU does; a quotient, a power or a function may differ in the last bit.
_EXACT = (cst.Add, cst.Subtract, cst.Multiply)
_COMPARED = (cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
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
    )
)


def made_on(
    source: cst.BaseExpression, device: cst.BaseExpression, facts: Facts
) -> cst.BaseExpression | None:
    """The expression with ``device=`` in each call of a factory; None where it may make something else there, or raise an error."""
    if isinstance(source, cst.Call) and facts.name_of(source.func) not in _DENSE:
        return _factory_on(source, device, facts)
    if not isinstance(device, (cst.Name, cst.Attribute, cst.SimpleString)):
        return None  # it would be evaluated more than once, or before other operands
    if isinstance(source, cst.BinaryOperation):
        return _arithmetic_on(source, device, facts)
    if isinstance(source, cst.Comparison):
        return _comparison_on(source, device, facts)
    inner = _tensor_of(source) if _keeps_all(source, facts) else None
    made = made_on(inner, device, facts) if inner is not None else None
    if inner is None or made is None:
        return None
    replaced = source.deep_replace(inner, made)
    return replaced if isinstance(replaced, cst.BaseExpression) else None


def _arithmetic_on(
    source: cst.BinaryOperation, device: cst.BaseExpression, facts: Facts
) -> cst.BinaryOperation | None:
    left, right = (_operand_on(side, device, facts) for side in (source.left, source.right))
    if not isinstance(source.operator, _EXACT) or left is None or right is None:
        return None
    is_changed = left is not source.left or right is not source.right
    return source.with_changes(left=left, right=right) if is_changed else None


def _comparison_on(source: cst.Comparison, device: cst.BaseExpression, facts: Facts) -> cst.Comparison | None:
    left = made_on(source.left, device, facts)
    if left is None or len(source.comparisons) != 1:
        return None
    (target,) = source.comparisons
    compares = isinstance(target.operator, _COMPARED) and _is_number(target.comparator, facts)
    return source.with_changes(left=left) if compares else None


def _operand_on(
    side: cst.BaseExpression, device: cst.BaseExpression, facts: Facts
) -> cst.BaseExpression | None:
    return side if _is_number(side, facts) else made_on(side, device, facts)


def _is_number(node: cst.BaseExpression, facts: Facts) -> bool:
    return facts.of(node).kind is Kind.NUMBER


def _tensor_of(source: cst.BaseExpression) -> cst.BaseExpression | None:
    """The tensor of an index, a sign, or the call of a method."""
    if isinstance(source, cst.Subscript):
        return source.value
    if isinstance(source, cst.UnaryOperation):
        return source.expression
    return (
        source.func.value if isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute) else None
    )


def _keeps_all(source: cst.BaseExpression, facts: Facts) -> bool:
    """Whether an operation on one tensor gives every element of it, in memory as dense."""
    if isinstance(source, cst.Subscript):
        return all(_is_whole(element.slice) for element in source.slice)
    if isinstance(source, cst.Call):
        return not unpacks(source) and all(_is_number(argument.value, facts) for argument in source.args)
    return isinstance(source, cst.UnaryOperation) and isinstance(source.operator, cst.Minus)


def _is_whole(part: cst.BaseSlice) -> bool:
    """Whether a part of an index is ``None``, ``...`` or ``:``, which leave out no element."""
    if isinstance(part, cst.Slice):
        return part.lower is None and part.upper is None and part.step is None
    value = cst.ensure_type(part, cst.Index).value
    return isinstance(value, cst.Ellipsis) or (isinstance(value, cst.Name) and value.value == "None")


def _factory_on(source: cst.Call, device: cst.BaseExpression, facts: Facts) -> cst.Call | None:
    keywords = {argument.keyword.value for argument in source.args if argument.keyword is not None}
    if unpacks(source) or keywords & _DECIDES_THE_PLACE or not _is_alike(source, facts):
        return None
    made = filled(source) if facts.name_of(source.func) == "torch.tensor" else source
    return set_argument(made, "device", device) if made is not None else None


def is_exact(source: cst.BaseExpression, facts: Facts) -> bool:
    """Whether the call of a factory makes the same on the GPU in every case, and raises an error in the same cases."""
    if not isinstance(source, cst.Call) or not _is_alike(source, facts):
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


def _is_alike(source: cst.Call, facts: Facts) -> bool:
    """Whether the elements are the same when they are made on the GPU."""
    name = facts.name_of(source.func)
    if name in {"torch.zeros", "torch.ones", "torch.empty", "torch.eye"}:
        return True
    if name == "torch.arange":  # fractions may be rounded differently
        numbers = [argument.value for argument in source.args if _names_number(argument)]
        return all(facts.of(number).dtype == "int" for number in numbers) and _holds_integers(source, facts)
    number = _number(source, facts)
    return number is not None and fills_alike(number, source, facts)


def _number(source: cst.Call, facts: Facts) -> cst.BaseExpression | None:
    parameter = _FILLED.get(facts.name_of(source.func))
    return facts.argument(source, parameter) if parameter is not None else None


def _names_number(argument: cst.Arg) -> bool:
    return argument.keyword is None or argument.keyword.value in {"start", "end", "step"}


def _holds_integers(source: cst.Call, facts: Facts) -> bool:
    """Whether the dtype of a range is the default one of integers, or one that rounds none below 2**24."""
    dtype = facts.argument(source, "dtype")
    return dtype is None or (isinstance(dtype, cst.Attribute) and dtype.attr.value in _WIDE)
