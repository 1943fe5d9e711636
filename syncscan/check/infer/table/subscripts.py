"""What ``base[index]`` is, and the subscript as a call of the operation table's entry for it."""

from __future__ import annotations

from syncscan.check.infer.source.conventions import is_tensor_of_models
from syncscan.check.infer.table.conditions import Bound
from syncscan.check.infer.table.results import indexed
from syncscan.check.infer.values.basic import element_of, item_of_table, list_of
from syncscan.check.infer.values.lattice import as_tensor, join_all
from syncscan.model import ARRAYS, UNKNOWN, Kind, Value
from syncscan.ops import OperationTable


def read_item(base: Value, index: Value) -> Value:
    """The value of ``base[index]``."""
    kind = base.kind
    if kind in ARRAYS:
        return indexed(base, elements_of_index(index))
    if kind is Kind.UNION:
        return join_all(read_item(option, index) for option in base.options)
    if kind is Kind.DICT:
        return item_of_table(base, index)
    if kind is Kind.MOVED:
        return _of_moved(base, index)
    if kind is Kind.STRING and index.kind is Kind.STRING:
        return UNKNOWN  # which no text can be asked for
    if index.kind is Kind.SLICE:
        return base if base.items is None else list_of(element_of(base), kind)
    if (
        base.items is not None
        and isinstance(index.payload, int)
        and -len(base.items) <= index.payload < len(base.items)
    ):
        return base.items[index.payload]
    if kind is Kind.CLASS:
        return base  # a generic class, subscripted
    return element_of(base)


def _of_moved(base: Value, index: Value) -> Value:
    """What was moved is indexed: by several things a tensor, by a number one of its tensors, by a name what it says."""
    if index.kind is Kind.TUPLE:
        return indexed(as_tensor(base), elements_of_index(index))
    if index.kind is Kind.STRING:
        return base if is_tensor_of_models(str(index.payload)) else UNKNOWN
    return base if index.kind in {Kind.SLICE, Kind.NUMBER} else UNKNOWN


def elements_of_index(index: Value) -> tuple[Value, ...]:
    """The elements of a subscript: those of a tuple, or of a list that torch takes for one, or the one thing."""
    if index.kind is not Kind.TUPLE and not (index.kind is Kind.LIST and _holds_slices(index)):
        return (index,)
    return index.items if index.items is not None else (element_of(index), UNKNOWN)  # any number of them


def subscript_call(
    table: OperationTable, name: str, base: Value, index: Value, value: Value | None = None
) -> Bound | None:
    """``base[index]``, or ``base[index] = value``, as a call of the operation table's entry for it."""
    operation = table.find(name)
    if operation is None:
        return None
    elements = elements_of_index(index)
    bound = Bound.of(operation, [base, UNKNOWN], {})
    bound.values["index"] = elements
    if value is not None:
        bound.values["value"] = (value,)
        bound.values["place"] = (indexed(base, elements),) if base.kind in ARRAYS else ()
    return bound


def _holds_slices(index: Value) -> bool:
    inside = index.items if index.items is not None else (index.element or UNKNOWN,)
    return any(option.kind is Kind.SLICE for item in inside for option in item.options)
