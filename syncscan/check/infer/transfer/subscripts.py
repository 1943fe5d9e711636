"""Subscripts: the value of ``base[index]``, and its form as a call of the operation table."""

from __future__ import annotations

from syncscan.check.infer.domain.basic import element_of, is_batch, is_gpu_batch, item_of_table, list_of
from syncscan.check.infer.domain.lattice import as_tensor, join_all, with_items
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, fact, refine
from syncscan.check.infer.ir.instructions import FunctionIR, Op, Slot
from syncscan.check.infer.source.conventions import is_tensor_of_models
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.operands import indexed
from syncscan.check.infer.transfer.point import Point
from syncscan.model import ARRAYS, Confidence, Kind
from syncscan.ops import OperationTable


def read_item(base: AbstractValue, index: AbstractValue) -> AbstractValue:
    """Return the value of ``base[index]``."""
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
        return BOTTOM  # which no text can be asked for
    if kind is Kind.NONE:
        return BOTTOM
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


def picked_by(at: Point, index: AbstractValue) -> AbstractValue | None:
    """Return the result of indexing an unknown value with a GPU tensor: only a GPU tensor accepts such an index."""
    arrays = [each for each in elements_of_index(index) if _is_array_on_gpu(each)]
    if not arrays or not at.stays_open():
        return None
    best = max(arrays, key=lambda each: each.confidence)
    note_subscript(at, AbstractValue(Kind.TENSOR, best.device, Confidence.INFERRED), index)
    return AbstractValue(Kind.TENSOR, best.device, min(best.confidence, Confidence.INFERRED), via=best.via)


def _is_array_on_gpu(index: AbstractValue) -> bool:
    """Return whether an index is a GPU tensor with dimensions; one without dimensions may also index a list."""
    return index.is_gpu and index.kind is Kind.TENSOR and (index.is_mask or bool(index.ndim))


def settled(at: Point, item: AbstractValue) -> AbstractValue:
    """Return an item of an array: a number or an array, unknown until its dimensions are known."""
    is_open = item.kind is Kind.NDARRAY and fact(item, "ndim") is None
    return BOTTOM if is_open and not at.stays_open() else item


def _of_moved(base: AbstractValue, index: AbstractValue) -> AbstractValue:
    """Return an item of an unresolved transfer: a tuple indexes a tensor, a number a batch, and a name a model output; anything a batch."""
    if is_batch(base):
        return base
    if index.kind is Kind.TUPLE:
        return indexed(as_tensor(base), elements_of_index(index))
    if index.kind is Kind.STRING:
        return base if is_gpu_batch(base) or is_tensor_of_models(str(index.payload)) else BOTTOM
    return base if index.kind in {Kind.SLICE, Kind.NUMBER} else BOTTOM


def elements_of_index(index: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return the elements of a subscript: those of a tuple, or of a list that torch takes for one, or the index itself."""
    if index.kind is not Kind.TUPLE and not (index.kind is Kind.LIST and _stands_for_a_tuple(index)):
        return (_without_objects(index),)
    if index.items is None:
        return (element_of(index), BOTTOM)  # any number of them
    return tuple(map(_without_objects, index.items))


def _without_objects(index: AbstractValue) -> AbstractValue:
    """Return an index without objects of the project, which index no array: a tensor of ``Tensor | TensorPointer``."""
    if index.kind is Kind.UNION:
        return join_all(map(_without_objects, index.options))
    return BOTTOM if index.kind is Kind.INSTANCE and isinstance(index.payload, Class) else index


def subscript_call(
    table: OperationTable,
    name: str,
    base: AbstractValue,
    index: AbstractValue,
    value: AbstractValue | None = None,
) -> Bound | None:
    """Return ``base[index]`` or ``base[index] = value`` as a call of its entry in the operation table, or None."""
    operation = table.find(name)
    if operation is None:
        return None
    elements = elements_of_index(index)
    if _is_of_numbers(base):  # Python asks the bounds of a slice for numbers, one by one
        elements = tuple(
            [each for one in elements for each in (one.items if one.kind is Kind.SLICE else (one,)) or ()]
        )
    bound = Bound.of(operation, [base, BOTTOM], {})
    bound.values["index"] = elements
    if value is not None:
        bound.values["value"] = (value,)
        bound.values["place"] = (indexed(base, elements),) if base.kind in ARRAYS else ()
    return bound


def _stands_for_a_tuple(index: AbstractValue) -> bool:
    """Return whether a list as index has items such as tensors: ``x[[rows, columns]]`` (torch 2.13)."""
    inside = index.items if index.items is not None else (index.element or BOTTOM,)
    return any(option.kind in _IN_TUPLES for item in inside for option in item.options)


_IN_TUPLES = frozenset({Kind.SLICE, Kind.TENSOR, Kind.NDARRAY, Kind.LIST, Kind.TUPLE, Kind.NONE})
_OF_NUMBERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.STRING})  # which only numbers index
_CONTAINERS = frozenset({"torch.nn.ModuleList", "torch.nn.ParameterList", "torch.nn.Sequential"})


def _is_of_numbers(value: AbstractValue) -> bool:
    """Return whether a value is a sequence of Python, or of torch's modules or parameters."""
    return value.kind in _OF_NUMBERS or (value.kind is Kind.INSTANCE and value.payload in _CONTAINERS)


def note_subscript(
    at: Point, base: AbstractValue, index: AbstractValue, value: AbstractValue | None = None
) -> None:
    """Record a subscript; of several options, an array of the GPU as index leaves the tensor."""
    options = base.options
    if base.kind is Kind.MOVED and index.kind is Kind.TUPLE:  # which only a tensor takes
        options = (as_tensor(base),)
    if len(options) > 1 and any(map(_is_array_on_gpu, elements_of_index(index))):
        options = tuple([option for option in options if option.kind is Kind.TENSOR])
    if at.recorder is None or len(options) != 1:
        return
    index = _as_named(at.state.ir, index, at.state.ir.operands[at.number][1])
    if options[0].kind is Kind.TENSOR:
        name = "torch.Tensor.__getitem__" if value is None else "torch.Tensor.__setitem__"
    elif _is_of_numbers(options[0]):  # an item that is read, stored or deleted
        name, value = "builtins.list.__getitem__", None
    else:
        return
    bound = subscript_call(at.context.table, name, options[0], index, value)
    if bound is not None and at.node is not None:
        at.recorder.operation(at.node, at.node, name, bound)


def _as_named(ir: FunctionIR, index: AbstractValue, slot: Slot) -> AbstractValue:
    """Return an index as a mask where its name promises one, and nothing else tells its dtype: ``x[batch.padding_mask]``."""
    if slot < 0:
        return index
    if ir.ops[slot] == Op.SEQUENCE and index.items is not None and len(index.items) == len(ir.operands[slot]):
        parts = zip(index.items, ir.operands[slot], strict=True)
        return with_items(index, [_as_named(ir, item, operand) for item, operand in parts])
    is_open = index.kind is Kind.TENSOR and index.dtype is None and index.ndim != 0
    if not is_open or _name_of(ir, slot).rpartition("_")[2] not in {"mask", "masks"}:
        return index
    return refine(index, dtype="bool", confidence=min(index.confidence, Confidence.INFERRED))


def _name_of(ir: FunctionIR, slot: Slot) -> str:
    """Return the name of an attribute, or of the item under a text; "" for other values."""
    op = ir.ops[slot]
    if op == Op.SUBSCRIPT:
        key = ir.operands[slot][1]
        return str(ir.data[key]) if key >= 0 and ir.ops[key] == Op.CONSTANT else ""
    return str(ir.data[slot][0]) if op == Op.ATTRIBUTE else ""
