"""What the names of tensors say about where they live. Configurable; the weakest evidence there is."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from syncscan.model import Device

HOST_NAMES = (r"(^|_)(cpu|np|list|host|pinned)s?$", r"(^|_)cpu_")
GPU_NAMES = (r"(^|_)(gpu|cuda)$",)
_MASK = re.compile(r"(^|_)masks?($|_)")
_INDEX = re.compile(r"(^|_)(idx|idxs|index|indices|ids|mapping|slots|loc|locs|lens|offsets)$")


@dataclass(frozen=True, slots=True)
class Conventions:
    """Patterns, searched in names, that say host or GPU; host wins where both match."""

    host_names: tuple[str, ...] = HOST_NAMES
    gpu_names: tuple[str, ...] = GPU_NAMES

    def place_of(self, name: str) -> Device:
        """The place that a name promises."""
        return _place_of(self, name)

    def dtype_of(self, name: str) -> str | None:
        """The dtype that the name of a tensor promises: "mask" is of bools, "index" of integers."""
        if _MASK.search(name):
            return "bool"
        return "int" if _INDEX.search(name) else None


@functools.lru_cache(maxsize=65536)
def _place_of(conventions: Conventions, name: str) -> Device:
    if any(re.search(pattern, name) for pattern in conventions.host_names):
        return Device.CPU
    if any(re.search(pattern, name) for pattern in conventions.gpu_names):
        return Device.CUDA
    return Device.UNKNOWN
