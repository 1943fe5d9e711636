"""Differences of indexed reads and stores between the CPU and a GPU that no kernel of the CPU shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .gradients import move
from .kinds import is_sequence
from .marks import cuda_index, without_functions

READS = frozenset({"index", "_unsafe_index"})
STORES = frozenset({"index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put"})
_MASKS = frozenset({torch.bool, torch.uint8})


def check_indices(args: Any) -> None:
    """Raise torch's error for a tensor read through an index on another GPU; host indices are valid everywhere."""
    own = cuda_index(args[0])
    if any(index is not None and cuda_index(index) not in {None, own} for index in args[1]):
        device = "cpu" if own is None else f"cuda:{own}"
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({device})"
        )


def needs_cast(target: Any, value: Any) -> bool:
    """Return whether a value is a single number of another dtype than the tensor into which it is stored."""
    return isinstance(value, torch.Tensor) and value.dtype != target.dtype and value.numel() == 1


def fills_mask(args: Any) -> bool:
    """Return whether torch fills a mask with a single number of the host, which it converts.

    It does so for one mask on the device of the tensor (measured on an H200, torch 2.11).
    """
    target, indices, value, *accumulates = args
    given = [index for index in indices if index is not None]
    return (
        len(given) == value.numel() == 1
        and given[0].dtype in _MASKS
        and cuda_index(given[0]) == cuda_index(target)
        and cuda_index(value) is None
        and not any(accumulates)
    )


def with_positions(args: Any) -> Any:
    """Return the arguments of a store, with positions in place of masks where torch does not fill a mask.

    Such a store raises where the dtypes differ. On the CPU, where all simulated numbers lie, it would fill the mask.
    """
    if fills_mask(args):
        return args
    target, indices, *others = args
    positions: list[torch.Tensor | None] = []
    with without_functions():  # the call that stores was judged already
        for index in indices:
            is_mask = index is not None and index.dtype in _MASKS and index.dim() > 0
            positions.extend(index.nonzero().unbind(1) if is_mask else [index])
    return (target, positions, *others)


def with_uploaded(args: Any) -> Any:
    """Return the arguments of ``x[index]`` on a GPU with the host parts of the index on that GPU.

    torch uploads these parts before autograd saves them, so a backward does not upload them again.
    """
    target, index, *values = args
    where = cuda_index(target)
    if where is None or not any(isinstance(t, torch.Tensor) and t.requires_grad for t in (target, *values)):
        return args
    is_tuple = type(index) is tuple
    parts = [_uploaded(part, where) for part in (index if is_tuple else [index])]
    return (target, tuple(parts) if is_tuple else parts[0], *values)


def _uploaded(part: Any, where: int) -> Any:
    if isinstance(part, torch.Tensor):
        return move(part, where, {}) if part.dim() > 0 and cuda_index(part) is None else part
    if not is_sequence(part) or not len(part) or any(isinstance(item, Iterable) for item in part):
        return part  # such as a list of lists, which some versions of torch take for a tuple
    try:
        with without_functions():
            made = torch.tensor(part, device="cpu")
    except (RuntimeError, TypeError):
        return part  # such as a list of slices
    if made.dtype.is_floating_point or made.dtype.is_complex:
        return part
    return move(made, where, {} if made.dtype in _MASKS else {"dtype": torch.long})
