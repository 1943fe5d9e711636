"""Operators and comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from syncscan.check.infer.domain.basic import (
    BOOL,
    INT,
    NUMBER,
    SEQUENCES,
    STRING,
    constant,
    element_of,
    list_of,
)
from syncscan.check.infer.domain.lattice import as_tensor, join, join_all
from syncscan.check.infer.domain.value import BOTTOM, DIFFERS, AbstractValue, fact, refine
from syncscan.check.infer.transfer.operands import arithmetic
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.special_methods import of_unary, run_contains, run_in_place
from syncscan.model import ARRAYS, Kind, is_zero

_NUMERIC = frozenset({Kind.MOVED, Kind.TENSOR, Kind.NUMBER})


def binary(at: Point, left: AbstractValue, right: AbstractValue, operator: str) -> AbstractValue:
    """Return the value of ``left <operator> right``."""
    if left.kind is Kind.STRING and operator == "Mod":
        return STRING  # "%f" % x formats x, whatever x is
    if operator != "BitOr":
        left, right = _both_numeric(at, left, right)
    kinds = {left.kind, right.kind}
    if Kind.NONE in kinds and not at.stays_open():
        return BOTTOM  # None has no such operator, so another value is still to come
    if Kind.UNION in kinds:
        return join_all([binary(at, a, b, operator) for a in left.options for b in right.options])
    if kinds & ARRAYS:
        return arithmetic(at, [left, right], operator)
    if kinds == {Kind.NUMBER}:
        return _of_numbers(left, right, operator)
    if (left is BOTTOM or right is BOTTOM) and not at.stays_open():
        return BOTTOM
    return STRING if Kind.STRING in kinds else _of_sequences(left, right, operator)


def _of_numbers(left: AbstractValue, right: AbstractValue, operator: str) -> AbstractValue:
    if is_zero(left) and operator in {"Div", "FloorDiv", "Mult"}:
        return left  # an average of nothing is zero, as the sum is
    dtypes = {fact(left, "dtype"), fact(right, "dtype")}
    return INT if dtypes == {"int"} else NUMBER if None in dtypes else refine(NUMBER, dtype=DIFFERS)


def changed(at: Point, old: AbstractValue, value: AbstractValue, operator: str) -> AbstractValue:
    """Return the value of ``old`` after ``old <operator>= value``, for values other than tensors, which stay where they are."""
    found = run_in_place(at, old, value, operator)
    return binary(at, old, value, operator) if found is None else found


def _of_sequences(left: AbstractValue, right: AbstractValue, operator: str) -> AbstractValue:
    if {left.kind, right.kind} & SEQUENCES:
        if operator == "Mult":
            whole = left if left.kind in SEQUENCES else right
            return list_of(element_of(whole), whole.kind)
        if operator == "Add" and left.kind is right.kind:
            return list_of(join(element_of(left), element_of(right)), left.kind)
    return BOTTOM


def _both_numeric(
    at: Point, left: AbstractValue, right: AbstractValue
) -> tuple[AbstractValue, AbstractValue]:
    """Return two operands, with unresolved transfers as tensors where the other operand is a tensor, a number or unknown."""
    if left.kind is not Kind.MOVED and right.kind is not Kind.MOVED:
        return left, right
    is_open = left is BOTTOM or right is BOTTOM
    if {left.kind, right.kind} <= _NUMERIC or (is_open and at.stays_open()):
        return as_tensor(left), as_tensor(right)
    return left, right


def unary(at: Point, operand: AbstractValue, operator: str) -> AbstractValue:
    """Return the value of an operator with one operand."""
    if operator == "Not":
        return BOOL
    if (found := of_unary(at, operand, operator)) is not None:
        return found
    if operator == "USub" and isinstance(operand.payload, int):
        return constant(-operand.payload)
    if operator == "Invert" and operand.kind in ARRAYS and operand.dtype is None and at.stays_open():
        return refine(operand, dtype="bool")  # what is inverted selects, unless it is known to be integers
    return operand if operand.kind in {*ARRAYS, Kind.NUMBER, Kind.UNION} else BOTTOM


def compared(at: Point, operands: Sequence[AbstractValue], operators: tuple[str, ...]) -> AbstractValue:
    """Return the value of a comparison."""
    if operators[0] == "In" or operators[0] == "NotIn":
        run_contains(at, operands[1], operands[0])
        return BOOL
    if "Is" in operators or "IsNot" in operators:
        return BOOL
    if len(operands) == 2:
        return _answer_of_two(at, *_both_numeric(at, *operands), operators[0])
    return _answer(at, [*operands], operators[0])


def _answer_of_two(at: Point, left: AbstractValue, right: AbstractValue, operator: str) -> AbstractValue:
    """Return the value of a comparison of two operands: the join over their options."""
    if left.kind is Kind.UNION or right.kind is Kind.UNION:
        pairs = [(one, other) for one in left.options for other in right.options]
        return join_all([_answer_of_two(at, one, other, operator) for one, other in pairs])
    kinds = {left.kind, right.kind}
    is_other = Kind.STRING in kinds or (Kind.NONE in kinds and Kind.NDARRAY not in kinds)
    if operator in {"Eq", "NotEq"} and is_other:
        return BOOL  # a tensor equals no text and not None, and torch does not look at it to say so (torch 2.11, H100)
    if operator in _ORDERS and not kinds.isdisjoint(_CONTAINERS) and not kinds <= _CONTAINERS:
        return BOTTOM  # a container has no order with a number or a tensor
    return _answer(at, [left, right], operator)


_ORDERS = frozenset({"Lt", "LtE", "Gt", "GtE"})
_CONTAINERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET})


def _answer(at: Point, operands: list[AbstractValue], operator: str) -> AbstractValue:
    """Return the value of a comparison of operands."""
    kinds = {operand.kind for operand in operands}
    if not kinds.isdisjoint(ARRAYS):
        return arithmetic(at, operands, operator)
    if Kind.UNION in kinds:
        options = [option for operand in operands if operand.kind is Kind.UNION for option in operand.options]
        return join_all([_answer_of_one(at, option, operator) for option in options])
    return BOTTOM if Kind.UNKNOWN in kinds else BOOL


def _answer_of_one(at: Point, option: AbstractValue, operator: str) -> AbstractValue:
    """Return the value of a comparison of several operands, as far as one option of one of them decides."""
    return arithmetic(at, [option], operator) if option.kind in ARRAYS else BOOL
