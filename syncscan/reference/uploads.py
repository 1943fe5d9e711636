"""Give the GPU what the host knows, without waiting for either (vLLM #41429).

A copy from ordinary (pageable) memory, a number stored through an index, and every constructor that is
handed a Python list and a GPU device wait for all work queued on the stream. A copy from pinned memory
with ``non_blocking=True`` is queued like a kernel. So: build on the host, in pinned memory, upload once.

Everything here works with ``device="cpu"``, where nothing is pinned and a copy is a copy.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


@functools.cache
def can_pin() -> bool:
    """Whether host memory can be pinned here: not without a GPU, nor on WSL where the driver refuses."""
    if not torch.cuda.is_available():
        return False
    try:
        torch.empty(1, pin_memory=True)
    except RuntimeError:
        return False
    return True


def staging(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device | str) -> torch.Tensor:
    """Zeros in host memory to fill and then send to ``device``: pinned where that speeds it up.

    Take a fresh one for each upload. torch's host allocator does not hand the block out again before
    the copy out of it is done; a buffer that you keep and refill has no such protection.
    """
    pin = torch.device(device).type == "cuda" and can_pin()
    return torch.zeros(shape, dtype=dtype, pin_memory=pin)


def upload(
    data: torch.Tensor | NDArray[np.generic] | Sequence[Any],
    device: torch.device | str,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Copy host data to ``device`` without waiting; a fresh tensor of the same shape.

    ``data`` is a (nested) list of numbers, a NumPy array or a tensor in host memory. It is copied into pinned
    memory first, so the caller may change it as soon as this returns. Where pinning is unavailable the
    copy starts from pageable memory: correct, but it may wait. ValueError for a tensor on a GPU.
    """
    source = torch.as_tensor(data, dtype=dtype)
    if source.device.type != "cpu":
        raise ValueError(f"upload: expected data in host memory, got a tensor on {source.device}")
    pinned = staging(tuple(source.shape), source.dtype, device)
    return pinned.copy_(source).to(device, non_blocking=True)
