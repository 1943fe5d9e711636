"""Which memory of the device holds numbers that were not computed, or were made of such.

The mark is beside that of the place, on the storage, so views share it: the names of the kernels. It goes from the operands of a kernel to what it
makes or writes, and ends where memory is filled anew as a whole. What the program reads of it may be otherwise on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .kinds import tensors_in
from .marks import PLAIN_TENSORS, PLAIN_TYPES, storage_of

_MARK = "_syncscan_uncomputed"
_NONE: frozenset[str] = frozenset()
_FILLS = frozenset({"zero_", "fill_", "copy_"})  # they write a first operand by others alone


class Written(frozenset):  # type: ignore[type-arg]
    """The mark of memory that kernels themselves were to write; a plain set is that of what was made of it."""

    __slots__ = ()


def taint(made: Any, kernels: frozenset[str]) -> None:
    """Mark all tensors of a result as made by kernels that were not run, or of what they make."""
    for tensor in tensors_in(made):
        owner = _owner(tensor)
        if owner is not None:
            setattr(owner, _MARK, kernels)


def clean(tensor: torch.Tensor) -> None:
    """Take the mark off the memory of a tensor."""
    delattr(_owner(tensor), _MARK)


def kernels_behind(values: Iterable[Any]) -> frozenset[str]:
    """The kernels that the arguments of a call come from; `Written` if one of these alone."""
    found: frozenset[str] = _NONE
    for value in values:
        kind = type(value)
        if kind in PLAIN_TYPES:
            continue
        for tensor in (value,) if kind in PLAIN_TENSORS else tensors_in(value):
            behind: frozenset[str] = getattr(_owner(tensor), _MARK, _NONE)
            if behind:
                found = found.union(behind) if found else behind
    return found


def spread(name: str, args: Any, kwargs: dict[str, Any], made: Any) -> None:
    """Mark what a kernel made, or wrote in place where it returns nothing, if an operand has the mark."""
    if name.endswith("_like") or name.startswith("new_"):  # of an operand they take the shape
        return
    fills = name in _FILLS and args
    behind = kernels_behind(args[1:] if fills else args) or (kwargs and kernels_behind(kwargs.values()))
    if behind:
        taint(args[:1] if made is None and name.endswith("_") else made, frozenset().union(behind))
    elif fills and _is_whole(args[0]) and kernels_behind(args[:1]):
        clean(args[0])


def _is_whole(tensor: torch.Tensor) -> bool:
    return bool(tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes())


def _owner(tensor: torch.Tensor) -> Any:
    try:
        return storage_of(tensor)
    except (RuntimeError, NotImplementedError):
        return None
