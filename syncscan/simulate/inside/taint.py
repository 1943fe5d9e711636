"""The marks of device memory whose contents the simulation did not compute, or derived from such contents.

The mark is the set of the kernels' names on the storage, beside the mark of the device, so views share it.
The mark propagates from the operands of a kernel to its results. Overwriting a whole storage clears it. A
value that the program reads from marked memory may differ on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .kinds import tensors_in
from .marks import PLAIN_TENSORS, PLAIN_TYPES, storage_of

_MARK = "_syncscan_uncomputed"
_NONE: frozenset[str] = frozenset()
_FILLS = frozenset({"zero_", "fill_", "copy_"})  # their result depends on the operands after the first


class Written(frozenset):  # type: ignore[type-arg]
    """The mark of memory that uncomputed kernels write directly; a plain set marks derived memory."""

    __slots__ = ()


def taint(made: Any, kernels: frozenset[str]) -> None:
    """Mark all tensors of a result as written by, or derived from, kernels that did not run."""
    for tensor in tensors_in(made):
        owner = storage_of(tensor)
        if owner is not None:
            setattr(owner, _MARK, kernels)


def clean(tensor: torch.Tensor) -> None:
    """Remove the mark from the storage of a tensor."""
    delattr(storage_of(tensor), _MARK)


def kernels_behind(values: Iterable[Any]) -> frozenset[str]:
    """Return the kernels from which the arguments of a call derive; a `Written` if one direct mark is the only one."""
    found: frozenset[str] = _NONE
    for value in values:
        kind = type(value)
        if kind in PLAIN_TYPES:
            continue
        for tensor in (value,) if kind in PLAIN_TENSORS else tensors_in(value):
            behind: frozenset[str] = getattr(storage_of(tensor), _MARK, _NONE)
            if behind:
                found = found.union(behind) if found else behind
    return found


def spread(name: str, args: Any, kwargs: dict[str, Any], made: Any) -> None:
    """Propagate the mark from a kernel's operands to its results, or to the operand that it writes in place."""
    if name.endswith("_like") or name.startswith("new_"):  # they take only the shape of an operand
        return
    fills = name in _FILLS and args
    behind = kernels_behind(args[1:] if fills else args) or (kwargs and kernels_behind(kwargs.values()))
    if behind:
        taint(args[:1] if made is None and name.endswith("_") else made, frozenset().union(behind))
    elif fills and _is_whole(args[0]) and kernels_behind(args[:1]):
        clean(args[0])


def _is_whole(tensor: torch.Tensor) -> bool:
    return bool(tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes())
