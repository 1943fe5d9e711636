"""The rules of CUDA for pinned memory, enforced here because a CPU-only torch has no pinned memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from .marks import PINNED


def pinned_place(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], where: int | None) -> int:
    """Return the mark of a constructor's result under ``pin_memory=True``: `PINNED`, or the device ``where``.

    Raises torch's RuntimeError where CUDA would refuse to pin.
    """
    if func is not torch.tensor:  # torch.tensor pins its data first, and transfers the tensor afterwards
        if where is not None and where >= 0:
            raise RuntimeError("Only dense CPU tensors can be pinned")
        return PINNED
    data = args[0] if args else kwargs.get("data")
    if isinstance(data, Tensor):
        raise RuntimeError("Can't pin tensor constructed from a variable")
    if _is_array(data):
        raise RuntimeError("Can't pin tensor constructed from numpy")
    return where if where is not None and where >= 0 else PINNED


def pinned_copy(tensor: Tensor) -> Tensor:
    """Return a copy in the same layout; raise RuntimeError where elements share memory, as in an expanded tensor."""
    if tensor.layout is not torch.strided or tensor.is_quantized:
        return tensor.clone()
    memory = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="cpu")
    return memory.copy_(tensor)


def _is_array(data: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(data, numpy.ndarray)
