"""The properties of a simulated GPU: those of an idle H200 with less memory, under a name that says so."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import torch

from .errors import SimulationError

NAME = "Simulated CUDA device"
MEMORY_BYTES = 80 << 30
CAPABILITY = (9, 0)


def uuid(index: int) -> str:
    """Return the UUID of one device in torch's format."""
    return f"00000000-0000-0000-0000-{index:012}"


def properties(index: int) -> SimpleNamespace:
    """Return the replacement for the result of ``torch.cuda.get_device_properties``; memory in bytes, clock rates in kHz."""
    return SimpleNamespace(
        name=NAME, major=CAPABILITY[0], minor=CAPABILITY[1], total_memory=MEMORY_BYTES,
        multi_processor_count=132, warp_size=32, max_threads_per_multi_processor=2048,
        max_threads_per_block=1024, regs_per_multiprocessor=65536, shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472,
        L2_cache_size=50 << 20, is_integrated=False, is_multi_gpu_board=False, clock_rate=1_980_000,
        memory_clock_rate=3_201_000, memory_bus_width=6144, gcnArchName="", uuid=uuid(index),
        pci_bus_id=index + 1, pci_device_id=0, pci_domain_id=0,
    )  # fmt: skip


# By their numbers in the CUDA runtime.
_ATTRIBUTES = {
    1: "max_threads_per_block", 8: "shared_memory_per_block", 10: "warp_size", 12: "regs_per_multiprocessor",
    13: "clock_rate", 16: "multi_processor_count", 36: "memory_clock_rate", 37: "memory_bus_width", 38: "L2_cache_size",
    39: "max_threads_per_multi_processor", 75: "major", 76: "minor", 81: "shared_memory_per_multiprocessor",
    82: "regs_per_multiprocessor", 97: "shared_memory_per_block_optin",
}  # fmt: skip


def attribute(number: int, index: int) -> int:
    """Return an attribute of a device, by its number in the CUDA runtime."""
    if number not in _ATTRIBUTES:
        raise SimulationError(f"the attribute {number} of a device (cudaDeviceAttr) is not simulated")
    value: int = getattr(properties(index), _ATTRIBUTES[number])
    return value


# Operations without tensors that ask the CUDA runtime about a device, and end the process where there is none.
ANSWERS: dict[str, Callable[..., int]] = {
    "_C_cuda_utils::get_device_attribute": attribute,
    "_C_cuda_utils::get_max_shared_memory_per_block_device_attribute": lambda index: attribute(97, index),
}


def memory_stats() -> dict[str, int]:
    """Return the counters of ``torch.cuda.memory_stats``, all 0."""
    counted = ("allocation", "segment", "active", "inactive_split")
    in_bytes = (
        *(f"{name}_bytes" for name in ("allocated", "reserved", "active", "inactive_split", "requested")),
    )
    names = [
        f"{name}.{pool}.{figure}"
        for name in (*counted, *in_bytes)
        for pool in ("all", "large_pool", "small_pool")
        for figure in ("current", "peak", "allocated", "freed")
    ]
    return dict.fromkeys(
        [
            *names,
            "num_alloc_retries",
            "num_ooms",
            "num_sync_all_streams",
            "num_device_alloc",
            "num_device_free",
        ],
        0,
    )


def dtypes() -> set[torch.dtype]:
    """Return the dtypes that a tensor on the device may have."""
    return {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
