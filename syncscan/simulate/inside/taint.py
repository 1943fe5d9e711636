"""Which memory of the device holds numbers that were not computed, or were made of such.

The mark is beside that of the place, on the storage, so views share it; it goes from the operands of a kernel to what it
makes or writes, and ends where memory is filled anew as a whole. What the program reads of it may be otherwise on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .kinds import tensors_in
from .marks import PLAIN_TENSORS, PLAIN_TYPES, storage_of

_MARK = "_syncscan_uncomputed"
_FILLS = frozenset({"zero_", "fill_", "copy_"})  # they write a first operand by others alone


def taint(made: Any) -> None:
    """Mark all tensors of a result."""
    for tensor in tensors_in(made):
        owner = _owner(tensor)
        if owner is not None:
            setattr(owner, _MARK, True)


def is_tainted(values: Iterable[Any]) -> bool:
    """Whether there is such a tensor among the arguments of a call."""
    for value in values:
        kind = type(value)
        if kind in PLAIN_TYPES:
            continue
        tensors = (value,) if kind in PLAIN_TENSORS else tensors_in(value)
        if any(getattr(_owner(tensor), _MARK, False) for tensor in tensors):
            return True
    return False


def spread(name: str, args: Any, kwargs: dict[str, Any], made: Any) -> None:
    """Mark what a kernel made, or wrote in place where it returns nothing, if an operand has the mark."""
    if name.endswith("_like") or name.startswith("new_"):  # of an operand they take the shape
        return
    fills = name in _FILLS and args
    if is_tainted(args[1:] if fills else args) or (kwargs and is_tainted(kwargs.values())):
        taint(args[:1] if made is None and name.endswith("_") else made)
    elif fills and _is_whole(args[0]) and is_tainted(args[:1]):
        delattr(_owner(args[0]), _MARK)


def _is_whole(tensor: torch.Tensor) -> bool:
    return bool(tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes())


def _owner(tensor: torch.Tensor) -> Any:
    try:
        return storage_of(tensor)
    except (RuntimeError, NotImplementedError):
        return None
