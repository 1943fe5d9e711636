"""The result of a call of a known operation, as its entry in the operation table says."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from syncscan.check.infer.source.index import Module
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.infer.table.conditions import Bound, in_form
from syncscan.check.infer.values.basic import (
    CPU_TENSOR,
    NDARRAY,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    list_of,
    refine,
    sequence,
)
from syncscan.check.infer.values.lattice import join_all
from syncscan.check.infer.values.steps import Placed, Step
from syncscan.model import ARRAYS, MASKS, ON_GPU, UNKNOWN, Confidence, Device, Evidence, Kind, Value
from syncscan.ops import Effect
from syncscan.ops.inferred import device_named

_FIXED = {
    "number": NUMBER,
    "string": STRING,
    "ndarray": NDARRAY,
    "none": NONE,
    "unknown": UNKNOWN,
    "cpu": CPU_TENSOR,
    "pinned": Value(Kind.TENSOR, Device.CPU, pinned=True),
    "pageable": Value(Kind.TENSOR, Device.CPU, pinned=False),
}
# The one dtype vocabulary of the analysis: by the last part of a dtype's name.
_DTYPES = {
    "bool": "bool",
    "uint8": "uint8",  # apart from the other integers: as an index it is a mask
    **dict.fromkeys(("int", "int8", "int16", "int32", "int64", "long", "short", "uint32", "uint64"), "int"),
    **dict.fromkeys(("float", "float16", "float32", "float64", "double", "half", "bfloat16"), "float"),
}


class Here(NamedTuple):
    """Where a call stands, and what holds there."""

    module: Module
    node: ast.expr
    default_device: Value | None  # of an enclosing ``with torch.device(...)``
    assume: Callable[[], bool]  # whether what is placed with some variable device counts as on the GPU by now

    @property
    def path(self) -> str:
        """The file."""
        return self.module.path

    @property
    def line(self) -> int:
        """The line."""
        return self.node.lineno

    @property
    def text(self) -> str:
        """The call itself on its first line, shortened for a message."""
        node, lines = self.node, self.module.lines
        line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        text = line.encode()[node.col_offset : end].decode(errors="replace").strip()
        if end is None:
            text += "..."
        return text if len(text) <= 72 else text[:69] + "..."


def dtype_named(value: Value | None) -> str | None:
    """The dtype class that an argument such as ``torch.int32`` or ``bool`` names."""
    if value is None:
        return None
    if value.kind is Kind.DTYPE:
        return value.dtype
    if value.kind in {Kind.MODULE, Kind.STRING} and isinstance(value.payload, str):  # bool, np.uint8, "int64"
        return dtype_class(value.payload.rstrip("_"))
    return None


def dtype_class(name: str) -> str | None:
    """The dtype that the last part of a name stands for, as `Value` has it."""
    return _DTYPES.get(name.rpartition(".")[2])


def placed(value: Value, here: Here) -> tuple[Device, Confidence, Evidence | None]:
    """The place that a ``device=`` argument means, and how sure that is.

    A device that only the run decides counts as the GPU: that is what such code is written for.
    """
    if value.kind is Kind.UNION:
        places = {device_named(option) for option in value.options}
        value = (
            value.options[0]
            if len(places) == 1 and value.options
            else Value(Kind.DEVICE, evidence=value.evidence)
        )
    device = device_named(value)
    evidence = value.evidence
    if evidence is None or (evidence.path, evidence.line) != (here.path, here.line):
        decided = device in {Device.CUDA, Device.CPU}
        where = "there" if decided else "on a device that the run decides, taken for the GPU"
        evidence = Placed(here.path, here.node, f"`{here.text}` puts it {where}", evidence)
    if device is Device.CUDA:
        return device, max(value.confidence, Confidence.INFERRED), evidence
    if device in {Device.UNKNOWN, Device.MIXED}:
        if here.assume():
            return Device.CUDA, Confidence.INFERRED, evidence
        return Device.UNKNOWN, Confidence.INFERRED, None
    return device, value.confidence, None


def result_of(bound: Bound, here: Here) -> Value:
    """The value that the operation returns."""
    out: Value | None = bound.get("out")
    if out is not None and out.kind is not Kind.NONE:
        return out
    bound = in_form(bound)
    base = _base(bound, here)
    if base.kind not in ARRAYS:
        return base
    if bound.operation.reduces:
        return _reduced(base, bound)
    if bound.operation.ndim >= 0:
        base = refine(base, ndim=bound.operation.ndim)
    return _counted(base, bound)


def _counted(base: Value, bound: Bound) -> Value:
    """A tensor, or the tensors that the result is, each of its own dtype."""
    typed = [_typed(base, bound, dtype) for dtype in bound.operation.dtypes()]
    count = bound.operation.count
    if count == 1:
        return typed[0]
    if count == 0:
        return list_of(typed[0], Kind.TUPLE)
    return sequence([*typed, *typed[-1:] * count][:count], Kind.TUPLE)


def _reduced(base: Value, bound: Bound) -> Value:
    along = bound.get(bound.operation.reduces)
    if along is None or along.kind is Kind.NONE:
        return refine(_typed(base, bound, bound.operation.dtypes()[0]), ndim=0)
    if along.kind is Kind.TENSOR:  # torch.max(a, b)
        return _typed(base, bound, bound.operation.dtypes()[0])
    keeps = bound.get("keepdim")
    receiver = bound.get("input")
    ndim = receiver.ndim if receiver is not None and receiver.kind is Kind.TENSOR else None
    if ndim is not None and not (keeps is not None and keeps.payload):
        ndim = ndim - 1 if along.kind is Kind.NUMBER else None
    return _counted(refine(base, ndim=ndim), bound)


def _base(bound: Bound, here: Here) -> Value:
    result = bound.operation.result
    if result.startswith("arg "):
        return bound.get(result[4:]) or UNKNOWN
    if result.startswith("a "):
        return Value(Kind.INSTANCE, payload=result[2:])
    if result == "list":
        return list_of(NUMBER)
    if result in {"gpu", "mapped"}:
        if _was_given_objects(bound):
            return _where_they_are(bound, here)
        evidence = Step(here.path, here.node, f"`{here.text}` is on the GPU")
        return Value(Kind.TENSOR, Device.CUDA, evidence=evidence)
    if result in _FIXED:
        fixed = _FIXED[result]
        if fixed.kind in {Kind.NDARRAY, Kind.TENSOR}:
            return _array_like(fixed, bound, here)
        return fixed
    if result == "device":
        return _made(bound, here)
    moved = _moved(bound, here)
    if moved is not None:
        return moved
    if result == "view":
        return _first(bound)
    return _with_operands(bound)


def _was_given_objects(bound: Bound) -> bool:
    """Whether what was measured gave tensors of the GPU as it was given objects that hold some, such as distributions."""
    operation = bound.operation
    copies = any(case.effect is Effect.UPLOAD for case in operation.blocks)
    return operation.measured and not operation.is_own and not copies and bool(operation.args)


def _where_they_are(bound: Bound, here: Here) -> Value:
    """With the tensors among the operands; parameters of which nothing is known count as on the GPU by the end."""
    result = together(bound.operands())
    if result.device is not Device.UNKNOWN or "parameters" not in bound.values or not here.assume():
        return result
    evidence = Step(here.path, here.node, f"`{here.text}` is where the parameters are, taken for the GPU")
    return refine(result, device=Device.CUDA, confidence=Confidence.INFERRED, evidence=evidence)


def _with_operands(bound: Bound) -> Value:
    """Where the operands are; a tensor that is read for a number, such as a size, is none of them."""
    result = together(bound.operands())
    if result.device not in ON_GPU:
        return result
    read = {term.arg for case in bound.operation.blocks if case.effect is Effect.SCALAR for term in case.when}
    read.discard(next(iter(bound.values), ""))
    if not read:
        return result
    placing = [value for name, values in bound.values.items() if name not in read for value in values]
    return together((*placing, *bound.rest))


def _array_like(fixed: Value, bound: Bound, here: Here) -> Value:
    """The host counterpart of an operand: same dtype, shape and, for a view, same memory."""
    if _is_given_nothing(bound, here):
        fixed = replace(fixed, count=0)
    given = bound.get("input") or bound.get("data") or UNKNOWN
    source = join_all(option for option in given.options if option.kind in {Kind.TENSOR, Kind.NDARRAY})
    if source.kind not in {Kind.TENSOR, Kind.NDARRAY}:
        return (
            fixed if fixed.kind is Kind.NDARRAY or fixed.pinned is not None else refine(fixed, pinned=False)
        )
    pinned = fixed.pinned if fixed.pinned is not None else source.pinned
    if source.kind is Kind.NDARRAY and source.pinned:  # whose memory `from_numpy` shares
        pinned = True
    if source.device is Device.CUDA:
        pinned = fixed.pinned or False
    return replace(fixed, dtype=source.dtype, ndim=source.ndim, pinned=pinned)


def _first(bound: Bound) -> Value:
    value = next(iter(bound.operands()), UNKNOWN)
    if value.kind in {Kind.TENSOR, Kind.NDARRAY}:
        return refine(value, ndim=None, count=None)  # `expand` gives more
    return TENSOR if value.kind in {Kind.UNKNOWN, Kind.UNION} else together((value,))


def _made(bound: Bound, here: Here) -> Value:
    """The result of a factory: where its device argument says, or on the default device."""
    device = bound.get("device")
    if device is None or device.kind is Kind.NONE:
        data = bound.get("data") or bound.get("input")
        if data is not None and data.kind is Kind.TENSOR and data.device is not Device.UNKNOWN:
            made: Value = data
            return made
        device = here.default_device
    if device is None:
        place, confidence, evidence = Device.CPU, Confidence.PROVED, None
    else:
        place, confidence, evidence = placed(device, here)
    if place is Device.CPU:
        evidence = Step(here.path, here.node, f"`{here.text}` makes it in host memory")
    pinned = _pinned(bound) if place is Device.CPU else None
    ndim, count = _dimensions(bound), _elements(bound, here)
    return Value(Kind.TENSOR, place, confidence, pinned, ndim=ndim, evidence=evidence, count=count)


def _pinned(bound: Bound) -> bool | None:
    """Whether a factory pins: a switch that only the run decides is meant to."""
    pin = bound.get("pin_memory")
    return not (pin is None or pin.payload is False or pin.kind is Kind.NONE)


def _dimensions(bound: Bound) -> int | None:
    """The number of dimensions that a size, or the nesting of the data, tells."""
    sizes = bound.values.get("size")
    if sizes:
        if len(sizes) > 1:
            return len(sizes)
        size = sizes[0]
        if size.kind is Kind.NUMBER:
            return 1
        return len(size.items) if size.kind in {Kind.TUPLE, Kind.LIST} and size.items is not None else None
    data = bound.get("data")
    if data is None:
        return None
    if data.kind in {Kind.TENSOR, Kind.NDARRAY}:
        ndim: int | None = data.ndim
        return ndim
    if data.kind is Kind.NUMBER:
        return 0
    if data.kind in {Kind.LIST, Kind.TUPLE}:
        items = data.items or ((data.element,) if data.element is not None else ())
        return 1 if items and all(item.kind is Kind.NUMBER for item in items) else None
    return None


def _elements(bound: Bound, here: Here) -> int | None:
    """The number of elements that a size in numbers, or data that is written out, tells."""
    sizes = bound.values.get("size")
    if _is_given_nothing(bound, here):
        return 0
    if not sizes:
        return _written_out(bound.get("data") or UNKNOWN)
    if len(sizes) == 1 and sizes[0].kind in {Kind.TUPLE, Kind.LIST}:
        sizes = sizes[0].items or ()
    known = [size.payload for size in sizes if isinstance(size.payload, int)]
    if 0 in known:
        return 0
    return math.prod(known) if known and len(known) == len(sizes) else None


def _is_given_nothing(bound: Bound, here: Here) -> bool:
    """Whether the data of a call is written out as ``[]``: a name of an empty list may have got something since."""
    if not isinstance(here.node, ast.Call) or "data" not in bound.values:
        return False
    given = [*here.node.args[:1], *(each.value for each in here.node.keywords if each.arg == "data")]
    return any(isinstance(each, (ast.List, ast.Tuple)) and not each.elts for each in given)


def _written_out(data: Value) -> int | None:
    if data.kind is Kind.NUMBER:
        return 1
    if data.kind not in {Kind.LIST, Kind.TUPLE} or not data.items:
        return None
    counts = [_written_out(item) for item in data.items]
    return None if None in counts else sum(counts)  # type: ignore[arg-type]  # none is None here


def _moved(bound: Bound, here: Here) -> Value | None:
    """The result where a ``device`` argument is given to something that usually follows its operands."""
    device = bound.get("device")
    if device is None or device.kind is Kind.NONE:
        return None
    receiver = bound.get("input") or UNKNOWN
    if device.kind is Kind.TENSOR:  # x.to(other)
        return _at(receiver, device.device, device.confidence, device.evidence, dtype=device.dtype)
    if device.kind is Kind.DTYPE:  # x.to(dtype)
        return _receiver_as(receiver, device.dtype)
    if device.kind is Kind.UNKNOWN:
        if receiver.kind is Kind.TENSOR and receiver.device is Device.CUDA:
            return receiver
        if _names_a_dtype(here.node):
            return _receiver_as(receiver, None)
    place, confidence, evidence = placed(device, here)
    return _at(receiver, place, confidence, evidence, dtype=receiver.dtype)


def _names_a_dtype(node: ast.expr) -> bool:
    """Whether what is given to ``x.to(...)`` is a dtype by its name."""
    return isinstance(node, ast.Call) and any("type" in last_name(arg) for arg in node.args)


def _receiver_as(receiver: Value, dtype: str | None) -> Value:
    return refine(receiver, dtype=dtype) if receiver.kind is Kind.TENSOR else Value(Kind.TENSOR, dtype=dtype)


def _at(
    receiver: Value, place: Device, confidence: Confidence, evidence: Evidence | None, *, dtype: str | None
) -> Value:
    if receiver.kind is Kind.TENSOR and receiver.device is place:
        return refine(receiver, dtype=dtype)
    ndim = receiver.ndim if receiver.kind is Kind.TENSOR else None
    pinned = False if place is Device.CPU else None
    count = receiver.count if receiver.kind is Kind.TENSOR else None
    return Value(Kind.TENSOR, place, confidence, pinned, dtype, ndim, evidence=evidence, count=count)


def _typed(base: Value, bound: Bound, dtype: str) -> Value:
    """A tensor of the result, of the dtype that the call or the operation gives it."""
    if "dtype" in bound.values:
        return refine(base, dtype=dtype_named(bound.get("dtype")))
    if dtype == "input":
        first = next((value for value in bound.operands() if value.kind in ARRAYS), base)
        return refine(base, dtype=first.dtype)
    if dtype == "numbers":
        return refine(base, dtype=_common_dtype([v for v in bound.operands() if v.kind in _NUMERIC]))
    if dtype == "sum":
        return refine(base, dtype="int" if base.dtype in MASKS else base.dtype)
    if dtype:
        return refine(base, dtype=dtype)
    if bound.operation.result == "device" and base.dtype is None:
        return refine(base, dtype=_dtype_of_data(bound.get("data")))
    return base


def _dtype_of_data(data: Value | None) -> str | None:
    if data is None:
        return None
    if data.kind in {Kind.LIST, Kind.TUPLE}:
        inside = {_dtype_of_data(item) for item in data.items or ((data.element,) if data.element else ())}
        return inside.pop() if len(inside) == 1 else None
    return data.dtype


def together(operands: Iterable[Value]) -> Value:
    """Where the result of an operation over several operands lives: on the GPU if any of them does."""
    tensors = [tensor for operand in operands for tensor in _tensors(operand)]
    if not tensors:
        return TENSOR
    best = tensors[0]
    for tensor in tensors[1:]:
        if _rank(tensor) > _rank(best):
            best = tensor
    dims = [tensor.ndim for tensor in tensors]
    ndim = None if None in dims else max(dims)  # type: ignore[type-var]
    pinned = False if best.device is Device.CPU else None
    return refine(best, ndim=ndim, dtype=_common_dtype(tensors), pinned=pinned, count=None)


_WIDER = {"bool": 0, "uint8": 1, "int": 2, "float": 3}


def _common_dtype(values: Sequence[Value]) -> str | None:
    """The dtype in which values of several dtypes meet: the widest of them, if all are known."""
    dtypes = [value.dtype for value in values]
    return None if None in dtypes else max(dtypes, key=_WIDER.__getitem__, default=None)  # type: ignore[arg-type]


_RANKS = {Device.CUDA: 4, Device.MIXED: 3, Device.UNKNOWN: 2, Device.OTHER: 1, Device.CPU: 0}


def _rank(value: Value) -> tuple[int, int]:
    """Operands share a device: what is surest of one of them holds for all."""
    return _RANKS[value.device], value.confidence


def _tensors(operand: Value) -> list[Value]:
    if operand.kind is Kind.TENSOR:
        return [operand]
    if operand.kind in {Kind.LIST, Kind.TUPLE, Kind.UNION}:
        inside = [*(operand.items or ()), *([operand.element] if operand.element is not None else [])]
        return [tensor for item in inside for tensor in _tensors(item)]
    return []


def indexed(value: Value, index: tuple[Value, ...]) -> Value:
    """What ``value[index]`` reads, for a tensor or an array; ``index`` has one value for each element."""
    ndim = _indexed_ndim(value.ndim, index)
    if value.kind is Kind.NDARRAY and ndim == 0:
        return NUMBER
    copied = any(item.kind in {Kind.TENSOR, Kind.NDARRAY, Kind.LIST} for item in index)
    pinned = False if copied and value.device is Device.CPU else value.pinned
    return refine(value, ndim=ndim, pinned=pinned, count=None if copied else value.count)


def _indexed_ndim(ndim: int | None, index: tuple[Value, ...]) -> int | None:
    """How many dimensions of ``ndim`` an index leaves and adds, where that is known."""
    changes = [_change_of_ndim(item) for item in index]
    arrays = [item for item in index if item.kind in ARRAYS and not _is_integer(item)]
    if ndim is None or None in changes or len(arrays) > 1:
        return None
    left = ndim + sum(change for change in changes if change is not None)
    return left if left >= 0 else None


def _change_of_ndim(item: Value) -> int | None:
    """By how much one element of an index changes the number of dimensions."""
    if _is_integer(item):
        return -1
    if item.kind is Kind.NONE:
        return 1
    if item.kind in ARRAYS and item.ndim is not None:  # a mask leaves one for all of its own
        return 1 - item.ndim if item.dtype in MASKS else item.ndim - 1
    return 0 if item.kind in {Kind.SLICE, Kind.LIST, Kind.TUPLE} else None


def _is_integer(item: Value) -> bool:
    """Whether an element of an index picks one of a dimension, which goes by that."""
    return item.kind is Kind.NUMBER or (
        item.kind is Kind.TENSOR and item.ndim == 0 and item.dtype not in MASKS
    )


def arithmetic(operands: list[Value], operator: ast.operator | ast.cmpop) -> Value:
    """The result of an operator between values that include a tensor or an array."""
    arrays = [operand for operand in operands if operand.kind is Kind.NDARRAY]
    with_tensor = len(arrays) < len(operands) and any(_tensors(operand) for operand in operands)
    base = together(operands) if with_tensor or not arrays else _broadcast(arrays)
    if isinstance(operator, ast.cmpop):
        return refine(base, dtype="bool")
    return refine(base, dtype=_operated([o for o in operands if o.kind in _NUMERIC], operator))


_NUMERIC = ARRAYS | {Kind.NUMBER}


def _operated(operands: list[Value], operator: ast.operator) -> str | None:
    """The dtype of ``a + b``; what is combined with bools by bits is of bools, as far as is known."""
    dtypes = {operand.dtype for operand in operands}
    if isinstance(operator, (ast.BitAnd, ast.BitOr, ast.BitXor)) and dtypes == {"bool", None}:
        return "bool"
    common = _common_dtype(operands)
    return "float" if isinstance(operator, ast.Div) and common is not None else common


def _broadcast(arrays: list[Value]) -> Value:
    """What an operator makes of arrays and numbers: a new array of the most dimensions among them."""
    dims = [array.ndim for array in arrays]
    ndim = None if None in dims else max(dims)  # type: ignore[type-var]
    return Value(Kind.NDARRAY, pinned=False, ndim=ndim)
