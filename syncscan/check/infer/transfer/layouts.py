"""Sparse layouts of results: tensors are dense unless an operation makes them sparse.

The payload of a sparse tensor is its layout as torch names it, with ``coalesced`` or ``uncoalesced`` behind ``sparse_coo``
where that is known. Measured with torch 2.13.
"""

from __future__ import annotations

from syncscan.check.infer.domain.basic import element_of
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.model import Kind

_COALESCED, _UNCOALESCED = "sparse_coo coalesced", "sparse_coo uncoalesced"
_MADE = {
    "sparse_coo_tensor": _UNCOALESCED,
    "spdiags": _UNCOALESCED,
    "coalesce": _COALESCED,
    "to_sparse": _COALESCED,
    "to_sparse_coo": _COALESCED,
    **{f"sparse_{sort}_tensor": f"sparse_{sort}" for sort in ("csr", "csc", "bsr", "bsc")},
    **{f"to_sparse_{sort}": f"sparse_{sort}" for sort in ("csr", "csc", "bsr", "bsc")},
}
_TURNED = frozenset({"t", "transpose", "unsqueeze", "cat", "stack"})
_KEPT = frozenset({"clone", "contiguous", "cpu", "cuda", "detach", "double", "float", "half", "to", "type"})
_OF_TWO = frozenset({"mm", "matmul"})


def with_layout(name: str, bound: Bound, result: AbstractValue) -> AbstractValue:
    """Return the result of an operation with its layout, where that is sparse."""
    if result.kind is not Kind.TENSOR:
        return result
    short = name.rpartition(".")[2]
    layout = _MADE.get(short) or _of_operands(short, bound)
    return result if layout == result.payload else refine(result, payload=layout)


def _of_operands(short: str, bound: Bound) -> object:
    """Return the layout of a result by those of its operands; None for a dense one."""
    first = bound.get("input") or bound.get("mat1") or element_of(bound.get("tensors") or BOTTOM)
    if not is_sparse(first):
        return None
    if short in _OF_TWO:
        other = bound.get("mat2") or bound.get("other") or BOTTOM
        return _COALESCED if is_sparse(other) else None
    if short in _TURNED and first.payload == _COALESCED:
        return _UNCOALESCED
    return first.payload if short in _KEPT or short in _TURNED else None


def is_sparse(value: AbstractValue) -> bool:
    """Return whether a value is a tensor of a sparse layout."""
    return value.kind is Kind.TENSOR and value.payload is not None
