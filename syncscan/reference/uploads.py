"""Upload host data without blocking either side (vLLM #41429).

Three things block until all work on the stream is done: a copy from pageable memory, a number stored
through an index, and a constructor with a Python list and a GPU device. A copy from pinned memory
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
    """Return whether host memory can be pinned here: not without a GPU, nor on WSL where the driver refuses."""
    if not torch.cuda.is_available():
        return False
    try:
        torch.empty(1, pin_memory=True)
    except RuntimeError:
        return False
    return True


def staging(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device | str) -> torch.Tensor:
    """Return zeros in host memory to fill and then send to ``device``: pinned where that speeds it up.

    Take a fresh one for each upload. The host allocator of torch hands the block out again only after
    the copy. A buffer that you keep and refill has no such protection.
    """
    pin = torch.device(device).type == "cuda" and can_pin()
    return torch.zeros(shape, dtype=dtype, pin_memory=pin)


def upload(
    data: torch.Tensor | NDArray[np.generic] | Sequence[Any],
    device: torch.device | str,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Copy host data to ``device`` without blocking; a fresh tensor of the same shape.

    ``data`` is a (nested) list of numbers, a NumPy array or a tensor in host memory. It is copied into pinned
    memory first, so the caller may change it as soon as this returns. If pinning is unavailable, the
    copy starts from pageable memory: correct, but the copy may block. ValueError for a tensor on a GPU.
    """
    source = torch.as_tensor(data, dtype=dtype)
    if source.device.type != "cpu":
        raise ValueError(f"upload: expected data in host memory, got a tensor on {source.device}")
    pinned = staging(tuple(source.shape), source.dtype, device)
    return pinned.copy_(source).to(device, non_blocking=True)
