"""Comparisons of values: the methods that they run, and the items and fields whose truth they ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from syncscan.check.infer.source.index import Class
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.packages import is_harmless_base
from syncscan.check.prove.special import compares, fields_of, may_hold_items
from syncscan.check.prove.values import (
    BOOL,
    HOST,
    TOP,
    AbstractValue,
    elements,
    host_arrays,
    join_all,
    may_be_gpu,
    may_hold_gpu,
    options_of,
    refine,
)
from syncscan.model import Kind

NAMES = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "MatMult": "matmul", "LShift": "lshift", "RShift": "rshift", "BitOr": "or", "BitXor": "xor", "BitAnd": "and",
    "Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge", "In": "contains", "NotIn": "contains",
    "USub": "neg", "UAdd": "pos", "Invert": "invert",
}  # fmt: skip
COMPARISONS = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})
SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE, Kind.SET, Kind.DICT})
_OF_ITEMS = SEQUENCES | {Kind.SLICE}  # whose comparison is that of their items
PLAIN = frozenset({Kind.NUMBER, Kind.STRING, Kind.NONE, Kind.DTYPE, Kind.DEVICE})
_MOST_INSIDE = 3  # records in fields of records
_NUMBER = "annotate the operand as a number"


def compared(
    frame: WalkFrame, node: ast.AST, operator: str, left: AbstractValue, right: AbstractValue
) -> AbstractValue:
    """Walk a comparison; a comparison of lists compares each item, and evaluates the truth of each result."""
    kinds = {left.kind, right.kind}
    if kinds <= PLAIN:
        return _known(operator, left, right)
    if not kinds.isdisjoint(PLAIN - {Kind.NUMBER}):
        return BOOL
    if Kind.NDARRAY in kinds:
        return of_arrays(frame, node, left, right, "bool")
    if all(_compares_itself(frame, each, operator) for each in (left, right)):
        return BOOL
    if any(refuses_tensors(frame, each, operator) for each in (left, right)):
        return BOOL
    _compares_fields(frame, node, operator, left, right)
    if kinds.isdisjoint(_OF_ITEMS):
        if kinds == {Kind.UNKNOWN}:
            frame.may(node, None, "both operands may be lists of tensors on the GPU", _NUMBER)
        return TOP
    compares(frame, node, (left, right), "__eq__", f"__{NAMES[operator]}__")
    if _compares_items(frame, operator, left, right):
        reason = "it compares items that may be tensors on the GPU, and asks for the truth"
        frame.may(node, None, reason, _NUMBER)
    return BOOL if kinds <= _OF_ITEMS | {Kind.NUMBER} else TOP


def of_arrays(
    frame: WalkFrame, node: ast.AST, left: AbstractValue, right: AbstractValue, dtype: str | None = None
) -> AbstractValue:
    """Walk an operator of an array, which copies the items of a list to the host."""
    if any(each.kind in SEQUENCES and may_hold_gpu(each) for each in (left, right)):
        frame.may(node, None, "it makes an array of what may be tensors on the GPU", _NUMBER)
    return TOP if may_be_gpu(left) or may_be_gpu(right) else host_arrays(dtype)


def _compares_fields(frame: WalkFrame, node: ast.AST, operator: str, *values: AbstractValue) -> None:
    if any(_compares_tensors(frame, each, operator) for each in values):
        reason = "it compares the fields of objects, which may be tensors on the GPU, and asks for the truth"
        frame.may(node, None, reason, _NUMBER)


def _compares_tensors(
    frame: WalkFrame, value: AbstractValue, operator: str, depth: int = _MOST_INSIDE
) -> bool:
    """Return whether a record has no comparison of its own, and a field that may be a tensor on the GPU, or holds one.

    So may an item of an object that is a container.
    """
    cls = value.payload if value.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class):
        return depth < _MOST_INSIDE and may_hold_gpu(value)
    if may_hold_items(frame, cls) and not frame.source.overrides(cls, f"__{NAMES[operator]}__"):
        return True
    if not cls.is_record or frame.source.overrides(cls, f"__{NAMES[operator]}__"):
        return False
    fields = fields_of(frame, cls)
    inside = [option for field in fields for option in field.options or (field,)]
    return depth == 0 or any(_compares_tensors(frame, each, operator, depth - 1) for each in inside)


def _compares_itself(
    frame: WalkFrame, value: AbstractValue, operator: str, depth: int = _MOST_INSIDE
) -> bool:
    """Return whether an object's comparison reads no other object: members of an enumeration, plain objects, texts."""
    if value.kind is Kind.UNION:
        return all(_compares_itself(frame, each, operator, depth) for each in value.items or ())
    if value is HOST or value.kind in PLAIN:
        return True
    cls = value.payload
    if value.kind is not Kind.INSTANCE or not isinstance(cls, Class):
        return False
    if cls.is_record and not _are_compared_alone(frame, fields_of(frame, cls), operator, depth):
        return False
    if may_hold_items(frame, cls):
        return False
    names = {f"__{NAMES[operator]}__", "__eq__", "__hash__"}
    return not any(frame.source.overrides(cls, name) for name in names) and all(
        is_harmless_base(base) for above in cls.mro() for base in above.external_bases
    )


def _are_compared_alone(frame: WalkFrame, fields: Iterable[AbstractValue], operator: str, depth: int) -> bool:
    inside = [option for field in fields for option in field.options or (field,)]
    parts = [elements(each) if each.kind in SEQUENCES - {Kind.DICT} else each for each in inside]
    return depth > 0 and all(_compares_itself(frame, each, operator, depth - 1) for each in parts)


def refuses_tensors(frame: WalkFrame, value: AbstractValue, operator: str) -> bool:
    """Return whether a tensor compares itself with no such value: a text, or an object that compares itself."""
    if any(each.kind is Kind.NUMBER or each is HOST for each in options_of(value)):
        return False
    return _compares_itself(frame, value, operator)


def _known(operator: str, left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """Return the truth value of the equality of two constants; anything for other values."""
    if operator in {"Eq", "NotEq"} and None not in {left.payload, right.payload} and left.kind is right.kind:
        return refine(BOOL, payload=(left.payload == right.payload) is (operator == "Eq"))
    return BOOL


def may_read(frame: WalkFrame, operator: str, left: AbstractValue, right: AbstractValue) -> bool:
    """Return whether the truth of a comparison of two items may be read from the GPU."""
    return any(
        _may_read_option(frame, operator, one, other)
        for one in options_of(left)
        for other in options_of(right)
    )


def _may_read_option(frame: WalkFrame, operator: str, left: AbstractValue, right: AbstractValue) -> bool:
    sides = (left, right)
    if not any(map(may_hold_gpu, sides)) or any(refuses_tensors(frame, each, operator) for each in sides):
        return False
    if any(may_be_gpu(each) or isinstance(each.payload, Class) for each in sides):
        return True
    return _compares_items(frame, operator, left, right)


def _compares_items(frame: WalkFrame, operator: str, left: AbstractValue, right: AbstractValue) -> bool:
    """Return whether a comparison of two containers compares their items, and an item may be on the GPU."""
    one, other = _inside(left), _inside(right)
    return one is not None and other is not None and may_read(frame, operator, one, other)


def _inside(value: AbstractValue) -> AbstractValue | None:
    """Return the items of a value that a comparison compares; None where it has none."""
    if value.kind is Kind.DICT:
        return value.element or TOP
    if value.kind in _OF_ITEMS:
        return _items_of(value)
    if value is HOST or (value.kind is Kind.MODULE and not may_be_gpu(value)):
        return HOST
    return TOP if value.kind in {Kind.UNKNOWN, Kind.MODULE, Kind.MOVED} else None


def _items_of(value: AbstractValue) -> AbstractValue | None:
    """Return the items of a sequence, or the bounds of a slice; None where it is empty."""
    if value.items == ():
        return None
    return join_all(value.items) if value.kind is Kind.SLICE and value.items else elements(value)
