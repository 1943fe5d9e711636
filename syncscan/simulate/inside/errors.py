"""The errors of the simulated GPU."""

from __future__ import annotations

from typing import Any

import torch

# The class of CUDA's own errors, a RuntimeError; torch before 2.8 has none of its own for them.
CudaError: Any = getattr(torch, "AcceleratorError", RuntimeError)


class SimulationError(RuntimeError):
    """The program requests a feature that only a real GPU has; the message names the operation."""
