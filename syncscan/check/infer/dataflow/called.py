"""The ways in which a function calls another function."""

from __future__ import annotations

from enum import Flag, auto


class Called(Flag):
    """A call of another function, with what decides whether the callee synchronizes."""

    WITHOUT_GPU = 0  # it passes nothing on the GPU
    WITH_GPU = auto()
    ALLOWED = auto()  # inside of a context that allows synchronization
    LATER = auto()  # torch calls it later: it is no part of the caller's run
