"""Memory of two kinds that the CPU has not: as large as a GPU's, and the host's that a GPU reads in place.

A program may fill most of its GPU with a cache of which it uses little. No machine for tests has that much, so large
memory takes none of the host until something is written there.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import torch

from .marks import set_place

LARGE_BYTES = 256 << 20
_OF_ONE_THREAD = 32_000  # elements; from 32,768 on torch shares them out
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_LIKE = frozenset({torch.empty_like, torch.zeros_like})
_MAKERS = _LIKE | {
    torch.empty, torch.zeros, torch.empty_strided, torch.Tensor.new_empty, torch.Tensor.new_zeros,
}  # fmt: skip


# What of new memory comes as it is. On the simulated GPU it is zero: a kernel that is not run may have been meant to fill it.
_UNFILLED = frozenset(
    {
        torch.empty, torch.empty_like, torch.empty_strided, torch.empty_permuted,
        torch.Tensor.new_empty, torch.Tensor.new_empty_strided,
    }
)  # fmt: skip
_UNFILLED_NAMES = frozenset(function.__name__ for function in _UNFILLED)


def is_unfilled(function: Any) -> bool:
    """Whether a public function, or an aten operation, fills what it makes with nothing."""
    return function in _UNFILLED or getattr(function, "_opname", "") in _UNFILLED_NAMES


def clear(tensor: torch.Tensor) -> None:
    """Zero all memory of a tensor, of whatever dtype; nothing where it has none of its own."""
    try:
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
    except (RuntimeError, NotImplementedError):
        return
    if address:
        ctypes.memset(address, 0, storage.nbytes())


def clear_part(tensor: torch.Tensor) -> None:
    """Zero a tensor, which may be a part of its memory, by this thread alone.

    Where others keep the machine busy, the threads of torch wait for each other far longer than that takes.
    """
    if tensor.is_contiguous():
        ctypes.memset(tensor.data_ptr(), 0, tensor.numel() * tensor.element_size())
        return
    rows = max(1, _OF_ONE_THREAD * len(tensor) // tensor.numel())
    for part in torch.split(tensor, rows):
        torch.Tensor.zero_(part)


def make_large(function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor | None:
    """What a function makes of zeros, or of nothing, where that is large; else None. ``kwargs`` name the CPU."""
    if not makes_much(function, args, kwargs) or "out" in kwargs:
        return None
    with torch._C._DisableTorchDispatch():
        wanted = function(*args, **{**kwargs, "device": "meta", "requires_grad": False})
    size = wanted.untyped_storage().nbytes()
    if size < LARGE_BYTES:
        return None
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except (OSError, AttributeError):  # no room for addresses either, or another system
        return None
    storage = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
    made = torch.empty(0, dtype=wanted.dtype).set_(storage, 0, wanted.size(), wanted.stride())
    return made.requires_grad_(bool(kwargs.get("requires_grad")))


def makes_much(function: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a function may make large memory of zeros, or of nothing."""
    return function in _MAKERS and _elements(function, args, kwargs) >= LARGE_BYTES // 16


def _elements(function: Any, args: Any, kwargs: dict[str, Any]) -> int:
    """How many elements are asked for, about."""
    if function in _LIKE:
        return int(args[0].numel()) if args else 0
    count = 1
    for value in (*args, kwargs.get("size")):
        for item in value if isinstance(value, (list, tuple)) else (value,):
            count *= item if type(item) is int else 1
    return count


def share_memory(tensor: torch.Tensor, where: int | None) -> torch.Tensor:
    """A tensor elsewhere, on the device or the host, with the memory of another: what either is given, both have."""
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if size == 0:
        mapped = torch.empty(0, dtype=torch.uint8)
    else:
        memory: Any = (ctypes.c_char * size).from_address(storage.data_ptr())
        memory.owner = storage  # which lives as long as this does
        mapped = torch.frombuffer(memory, dtype=torch.uint8)
    made = torch.empty(0, dtype=tensor.dtype).set_(
        mapped.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride()
    )
    set_place(made, where)
    return made
