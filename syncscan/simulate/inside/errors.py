"""The errors of the simulated GPU."""

from __future__ import annotations


class SimulationError(RuntimeError):
    """The program requests a feature that only a real GPU has; the message names the operation."""
