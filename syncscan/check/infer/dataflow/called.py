"""How a function calls another one."""

from __future__ import annotations

from enum import Flag, auto


class Called(Flag):
    """How a function calls another one, as far as synchronization in that one is concerned."""

    WITHOUT_GPU = 0  # it passes nothing on the GPU
    WITH_GPU = auto()
    ALLOWED = auto()  # inside of a context that allows synchronization
