"""The ways in which a function calls another function."""

from __future__ import annotations

from enum import Flag, auto


class Called(Flag):
    """How a function calls another, as far as the synchronization in the callee is concerned."""

    WITHOUT_GPU = 0  # it passes nothing on the GPU
    WITH_GPU = auto()
    ALLOWED = auto()  # inside of a context that allows synchronization
