"""Differences of indexed reads and stores between the CPU and a GPU that no kernel of the CPU shows."""

from __future__ import annotations

from typing import Any

import torch

from .marks import cuda_index

READS = frozenset({"index", "_unsafe_index"})
STORES = frozenset({"index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put"})
_MASKS = frozenset({torch.bool, torch.uint8})


def check_indices(args: Any) -> None:
    """Raise torch's error for a tensor indexed from another GPU; host indices are valid everywhere."""
    own = cuda_index(args[0])
    if any(index is not None and cuda_index(index) not in {None, own} for index in args[1]):
        device = "cpu" if own is None else f"cuda:{own}"
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({device})"
        )


def needs_cast(target: Any, value: Any) -> bool:
    """Return whether a single number on a GPU is stored into a tensor of another dtype."""
    return (
        isinstance(value, torch.Tensor)
        and value.dtype != target.dtype
        and value.numel() == 1
        and cuda_index(value) is not None
    )


def with_positions(args: Any) -> Any:
    """Return the arguments of a store with positions in place of masks where the dtypes differ.

    The CPU fills a mask with a single number of any dtype. A GPU does so with a number of the host alone, and
    raises for other numbers. With positions, torch raises the same error on the CPU.
    """
    target, indices, value, *others = args
    if not needs_cast(target, value):
        return args
    positions: list[torch.Tensor | None] = []
    for index in indices:
        is_mask = index is not None and index.dtype in _MASKS
        positions.extend(index.nonzero().unbind(1) if is_mask else [index])
    return (target, positions, value, *others)
