"""Calls of NumPy, and methods of its arrays."""

from __future__ import annotations

from syncscan.check.infer.domain.basic import NDARRAY, NUMBER, list_of
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, fact, refine
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import METHODS, PACKAGES, register
from syncscan.check.infer.transfer.results import dtype_named, result_of
from syncscan.model import Kind

ARRAY_METHODS = frozenset(
    {"all", "any", "argmax", "argmin", "argsort", "astype", "clip", "copy", "cumprod", "cumsum", "diagonal", "dot",
     "fill", "flatten", "item", "max", "mean", "min", "nonzero", "partition", "prod", "put", "ravel", "repeat",
     "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tobytes",
     "tolist", "trace", "transpose", "var", "view"}
)  # fmt: skip
_REDUCE = frozenset({"prod", "sum", "max", "min", "mean", "any", "all"})
_NUMBERS = frozenset(
    {"int32", "int64", "float32", "float64", "bool_", "isscalar", "ndim", "size", "iinfo", "finfo"}
)
_TUPLES = frozenset(
    {"tril_indices", "triu_indices", "tril_indices_from", "triu_indices_from", "diag_indices", "diag_indices_from",
     "mask_indices", "meshgrid", "ix_"}
)  # fmt: skip
# Of the shape of the array that they are given.
_KEEP_SHAPE = frozenset({"clip", "copy", "round"})
_BY_ELEMENT = frozenset(
    {"abs", "absolute", "around", "ascontiguousarray", "ceil", "clip", "copy", "cos", "exp", "expm1", "flip", "floor", "log", "log10",
     "log1p", "log2", "negative", "rint", "round", "sign", "sin", "sort", "sqrt", "square", "tan", "tanh"}
)  # fmt: skip
_BOOLS = frozenset({"isin", "equal", "greater", "less", "logical_and", "logical_or", "logical_not", "isnan"})


@register(METHODS, Kind.NDARRAY)
def _of_array(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    if name == "tolist":
        return list_of(NUMBER)
    if name not in ARRAY_METHODS and not name.startswith("__"):
        return BOTTOM
    if name in {"item", "__len__", "__int__"}:
        return NUMBER
    if name in _REDUCE | {"argmax", "argmin", "std"}:
        whole = not call.args and "axis" not in call.kwargs
        return NUMBER if whole else refine(base, ndim=None, dtype=None)
    if name == "nonzero":
        return list_of(refine(NDARRAY, dtype="int", pinned=False), Kind.TUPLE)
    if name == "astype":
        return refine(base, dtype=dtype_named(call.args[0]) if call.args else None, pinned=False)
    if name in {"fill", "sort", "setflags", "resize"}:
        return BOTTOM
    if name in _KEEP_SHAPE:
        return refine(base, pinned=False)
    return refine(base, ndim=None, pinned=base.pinned if name in {"view", "reshape", "ravel"} else False)


@register(PACKAGES, "numpy")
def _of_numpy(at: Point, name: str, call: Call) -> AbstractValue:
    operation = at.context.table.find(name)
    if operation is not None:
        at.note_operation(name, call)
        return result_of(call.bound(operation), at)
    short = name.rpartition(".")[2]
    alone = len(call.args) == 1
    if short in _NUMBERS or (short in _REDUCE and alone and "axis" not in call.kwargs):
        return NUMBER
    if short == "dtype":
        return AbstractValue(Kind.DTYPE)
    array = _array_of(short, call)
    is_tuple = short in _TUPLES or (short in {"nonzero", "where"} and alone)
    return list_of(array, Kind.TUPLE) if is_tuple else array


def _array_of(short: str, call: Call) -> AbstractValue:
    dtype = "bool" if short in _BOOLS else "int" if short in {"nonzero", "argsort"} else None
    given = call.first
    ndim = fact(given, "ndim") if short in _BY_ELEMENT and given.kind is Kind.NDARRAY else None
    return refine(NDARRAY, pinned=False, dtype=dtype_named(call.kwargs.get("dtype")) or dtype, ndim=ndim)
