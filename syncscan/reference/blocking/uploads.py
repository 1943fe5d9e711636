"""Uploads that block the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


def upload(
    data: NDArray[np.generic] | Sequence[Any],
    device: torch.device | str,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Copy host data to ``device``."""
    return torch.as_tensor(data, dtype=dtype, device=device)  # expect: SYN301
