"""The errors of the simulated GPU."""

from __future__ import annotations


class SimulationError(RuntimeError):
    """The program asks for what only a real GPU can do; the text names the operation."""
