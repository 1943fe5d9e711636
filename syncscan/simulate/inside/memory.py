"""Two kinds of memory that the CPU lacks: allocations as large as a GPU's memory, and host memory that the GPU maps.

A program may fill most of its GPU with a cache and use little of the cache. A test machine has no such
memory. A large allocation therefore occupies host memory only where the program writes.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import torch

from .marks import set_place

LARGE_BYTES = 256 << 20
_OF_ONE_THREAD = 32_000  # elements; torch uses several threads from 32,768 on
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_LIKE = frozenset({torch.empty_like, torch.zeros_like})
_MAKERS = _LIKE | {
    torch.empty, torch.zeros, torch.empty_strided, torch.Tensor.new_empty, torch.Tensor.new_zeros,
}  # fmt: skip


# Constructors of uninitialised memory, here zeroed: a kernel that does not run may have been meant to fill it.
_UNFILLED = frozenset(
    {
        torch.empty, torch.empty_like, torch.empty_strided, torch.empty_permuted,
        torch.Tensor.new_empty, torch.Tensor.new_empty_strided,
    }
)  # fmt: skip
_UNFILLED_NAMES = frozenset(function.__name__ for function in _UNFILLED)


def is_unfilled(function: Any) -> bool:
    """Return whether a public function or aten operation makes a tensor without initial values."""
    return function in _UNFILLED or getattr(function, "_opname", "") in _UNFILLED_NAMES


def clear(tensor: torch.Tensor) -> None:
    """Zero the whole storage of a tensor of any dtype; do nothing for a tensor without a storage."""
    try:
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
    except RecursionError:  # says nothing of the tensor
        raise
    except RuntimeError:
        return
    if address:
        ctypes.memset(address, 0, storage.nbytes())


def clear_part(tensor: torch.Tensor) -> None:
    """Zero a tensor, but not the rest of its storage, on this thread alone.

    On a busy machine, torch's threads would take far longer to synchronize with each other.
    """
    if tensor.is_contiguous():
        ctypes.memset(tensor.data_ptr(), 0, tensor.numel() * tensor.element_size())
        return
    rows = max(1, _OF_ONE_THREAD * len(tensor) // tensor.numel())
    for part in torch.split(tensor, rows):
        torch.Tensor.zero_(part)


def make_large(function: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor | None:
    """Return a zero tensor whose memory the system maps on write, where the result would be at least 256 MiB; else None.

    ``function`` is a constructor of empty or zero tensors, and ``kwargs`` name the CPU as device.
    """
    if not makes_much(function, args, kwargs) or "out" in kwargs:
        return None
    with torch._C._DisableTorchDispatch():
        wanted = function(*args, **{**kwargs, "device": "meta", "requires_grad": False})
    size = wanted.untyped_storage().nbytes()
    if size < LARGE_BYTES:
        return None
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except (OSError, AttributeError):  # no address space left, or no such flags on this system
        return None
    storage = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
    made = torch.empty(0, dtype=wanted.dtype).set_(storage, 0, wanted.size(), wanted.stride())
    return made.requires_grad_(bool(kwargs.get("requires_grad")))


def makes_much(function: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    """Return whether a function may allocate large memory that is empty or zero."""
    return function in _MAKERS and _elements(function, args, kwargs) >= LARGE_BYTES // 16


def _elements(function: Any, args: Any, kwargs: dict[str, Any]) -> int:
    """Return the approximate number of elements of the result."""
    if function in _LIKE:
        return int(args[0].numel()) if args else 0
    count = 1
    for value in (*args, kwargs.get("size")):
        for item in value if isinstance(value, (list, tuple)) else (value,):
            count *= item if type(item) is int else 1
    return count


def share_memory(tensor: torch.Tensor, where: int | None) -> torch.Tensor:
    """Return a tensor marked with another device (None: the host) that shares the memory of ``tensor``."""
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if size == 0:
        mapped = torch.empty(0, dtype=torch.uint8)
    else:
        memory: Any = (ctypes.c_char * size).from_address(storage.data_ptr())
        memory.owner = storage  # keep the storage alive
        mapped = torch.frombuffer(memory, dtype=torch.uint8)
    made = torch.empty(0, dtype=tensor.dtype).set_(
        mapped.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride()
    )
    set_place(made, where)
    return made
