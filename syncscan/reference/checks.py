"""Checks of the components' arguments. No check reads a value from the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

INTEGERS = (torch.int32, torch.int64)


def check_tensor(
    name: str,
    tensor: torch.Tensor,
    shape: tuple[int | None, ...],
    device: torch.device | str,
    *dtypes: torch.dtype,
) -> None:
    """Raise TypeError or ValueError unless ``tensor`` is what ``name`` has to be.

    ``None`` in ``shape`` accepts any length; no ``dtypes`` accept any; devices are compared by type.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: expected a tensor, got {type(tensor).__name__}")
    fits = tensor.ndim == len(shape)
    if not fits or any(want not in {None, have} for want, have in zip(shape, tensor.shape, strict=True)):
        wanted = str(shape).replace("None", "*")
        raise ValueError(f"{name}: expected shape {wanted}, got {tuple(tensor.shape)}")
    if tensor.device.type != torch.device(device).type:
        raise ValueError(f"{name}: expected a tensor on {torch.device(device).type}, got {tensor.device}")
    if dtypes and tensor.dtype not in dtypes:
        raise TypeError(f"{name}: expected {' or '.join(map(str, dtypes))}, got {tensor.dtype}")


def check_counts(name: str, counts: NDArray[Any], length: int | None = None, least: int = 0) -> None:
    """Raise TypeError or ValueError unless ``counts`` is a host array of integers, none below ``least``."""
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iu":
        got = counts.dtype if isinstance(counts, np.ndarray) else type(counts).__name__
        raise TypeError(f"{name}: expected a NumPy array of integers, got {got}")
    if counts.ndim != 1 or length not in {None, len(counts)}:
        raise ValueError(f"{name}: expected shape ({'*' if length is None else length},), got {counts.shape}")
    if len(counts) and counts.min() < least:
        raise ValueError(f"{name}: expected no value below {least}, got {counts.min()}")
