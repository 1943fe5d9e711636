"""Autocast for CUDA, applied to the CPU: while CUDA autocast is on, torch's CPU autocast state is a copy of its CUDA state.

`AutocastState` saves the program's own CPU autocast state meanwhile, answers queries about that state, and
restores it afterwards.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from .patches import Patches


_NAMES = ("is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled", "set_autocast_dtype")


def install(patches: Patches) -> AutocastState:
    """Replace the functions that read and change the autocast state; return the state."""
    state = AutocastState(*(getattr(torch, name) for name in _NAMES))
    for name in _NAMES:
        patches.replace(torch, name, getattr(state, name))
    patches.switch(lambda: None, state.give_back, None)
    return state


class AutocastState(threading.local):
    """The autocast state of one thread."""

    def __init__(self, is_enabled: Any, dtype: Any, enable: Any, set_dtype: Any) -> None:
        self._is_enabled, self._dtype, self._enable, self._set_dtype = is_enabled, dtype, enable, set_dtype
        self._kept: tuple[bool, torch.dtype] | None = None  # the program's CPU state, if saved

    def is_autocast_enabled(self, device_type: str = "cuda") -> bool:
        """Return whether autocast is on for a device type; by default CUDA, as in torch."""
        kept = self._kept if device_type == "cpu" else None
        return bool(self._is_enabled(device_type)) if kept is None else kept[0]

    def get_autocast_dtype(self, device_type: str) -> torch.dtype:
        """Return the dtype of autocast for a device type."""
        kept = self._kept if device_type == "cpu" else None
        found: torch.dtype = self._dtype(device_type) if kept is None else kept[1]
        return found

    def set_autocast_enabled(self, *args: Any) -> None:
        """Switch autocast on or off; an older form of the function has no device argument and means CUDA."""
        if not 1 <= len(args) <= 2:
            self._enable(*args)  # raises the error of torch
            return
        device_type, enabled = args if len(args) == 2 else ("cuda", *args)
        if device_type == "cpu" and self._kept is not None:
            self._kept = enabled, self._kept[1]
            return
        self._enable(device_type, enabled)
        self._follow()

    def set_autocast_dtype(self, device_type: str, dtype: torch.dtype) -> None:
        """Set the dtype of autocast for a device type."""
        if device_type == "cpu" and self._kept is not None:
            self._kept = self._kept[0], dtype
            return
        self._set_dtype(device_type, dtype)
        self._follow()

    def follows_gpu(self) -> bool:
        """Return whether operations on the CPU currently use the CUDA autocast state."""
        return self._kept is not None

    def run_on_host(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a function of host operands under the program's own CPU autocast state."""
        if self._kept is None:
            return function(*args, **kwargs)
        enabled, dtype = self._kept
        followed = self._dtype("cpu")
        self._enable("cpu", enabled)
        self._set_dtype("cpu", dtype)
        try:
            return function(*args, **kwargs)
        finally:
            self._enable("cpu", True)
            self._set_dtype("cpu", followed)

    def give_back(self, _: Any = None) -> None:
        """Restore the program's own CPU autocast state."""
        if self._kept is not None:
            enabled, dtype = self._kept
            self._kept = None
            self._enable("cpu", enabled)
            self._set_dtype("cpu", dtype)

    def _follow(self) -> None:
        if not self._is_enabled("cuda"):
            self.give_back()
            return
        if self._kept is None:
            self._kept = self._is_enabled("cpu"), self._dtype("cpu")
        self._enable("cpu", True)
        self._set_dtype("cpu", self._dtype("cuda"))
