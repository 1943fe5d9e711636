"""Autocast for CUDA, which here casts what runs on the CPU: while it is on, torch's state for the CPU is that for CUDA.

What the program says of autocast for the host is kept meanwhile, answered where it asks, and put back afterwards.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from .patches import Patches


_NAMES = ("is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled", "set_autocast_dtype")


def install(patches: Patches) -> AutocastState:
    """Replace the functions that ask of the state and change it; returns the state."""
    state = AutocastState(*(getattr(torch, name) for name in _NAMES))
    for name in _NAMES:
        patches.replace(torch, name, getattr(state, name))
    patches.switch(lambda: None, state.give_back, None)
    return state


class AutocastState(threading.local):
    """That of one thread, as torch has it."""

    def __init__(self, is_enabled: Any, dtype: Any, enable: Any, set_dtype: Any) -> None:
        self._is_enabled, self._dtype, self._enable, self._set_dtype = is_enabled, dtype, enable, set_dtype
        self._kept: tuple[bool, torch.dtype] | None = None  # for the host, while it is on for CUDA

    def is_autocast_enabled(self, device_type: str = "cuda") -> bool:
        """As torch's, which without a device asks of CUDA."""
        kept = self._kept if device_type == "cpu" else None
        return bool(self._is_enabled(device_type)) if kept is None else kept[0]

    def get_autocast_dtype(self, device_type: str) -> torch.dtype:
        """As torch's."""
        kept = self._kept if device_type == "cpu" else None
        found: torch.dtype = self._dtype(device_type) if kept is None else kept[1]
        return found

    def set_autocast_enabled(self, *args: Any) -> None:
        """As torch's, of which an older form has no device."""
        device_type, enabled = args if len(args) == 2 else ("cuda", *args)
        if device_type == "cpu" and self._kept is not None:
            self._kept = enabled, self._kept[1]
            return
        self._enable(device_type, enabled)
        self._follow()

    def set_autocast_dtype(self, device_type: str, dtype: torch.dtype) -> None:
        """As torch's."""
        if device_type == "cpu" and self._kept is not None:
            self._kept = self._kept[0], dtype
            return
        self._set_dtype(device_type, dtype)
        self._follow()

    def follows_gpu(self) -> bool:
        """Whether what runs on the CPU is cast as on the GPU."""
        return self._kept is not None

    def run_on_host(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a function of operands of the host, which autocast for CUDA does not cast."""
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
        """Let the host have its own state."""
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
