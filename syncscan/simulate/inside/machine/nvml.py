"""NVML for the simulated GPUs: the functions of ``libnvidia-ml.so.1`` that programs call.

Functions that are not defined here are missing from the library. Callers of NVML then assume a driver older
than themselves.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char, c_char_p, c_int, c_uint, c_ulonglong, c_void_p
from typing import TYPE_CHECKING, Any

import torch

from .. import figures

if TYPE_CHECKING:
    from ..gpu import Gpu

NOT_LOADED = 9  # the status of a machine without a driver
_BAD_ARGUMENT, _NOT_FOUND = 2, 6
_NOT_CONNECTED = 5  # status of a pair of devices: no peer access
_TEXTS = {
    0: b"Success",
    _BAD_ARGUMENT: b"Invalid Argument",
    _NOT_FOUND: b"Not Found",
    NOT_LOADED: b"Driver Not Loaded",
}
_DRIVER = b"580.65.06"  # a driver version that supports CUDA 13
_Handle = c_void_p  # the index of a device plus 1, since null is invalid

answers: dict[str, Any] = {}  # the callbacks by function name
_gpus: list[Gpu] = []  # the running simulation, if any


def answer_for(gpu: Gpu | None) -> None:
    """Report the devices of a simulation from now on; for None, behave as without a driver."""
    _gpus[:] = [] if gpu is None else [gpu]


class _Memory(Structure):
    _fields_ = [(name, c_ulonglong) for name in ("total", "free", "used")]


class _MemoryWithReserved(Structure):
    _fields_ = [("version", c_uint), *((name, c_ulonglong) for name in ("total", "reserved", "free", "used"))]


class _Utilization(Structure):
    _fields_ = [("gpu", c_uint), ("memory", c_uint)]


class _Pci(Structure):
    _fields_ = [
        ("bus_id_legacy", c_char * 16), ("domain", c_uint), ("bus", c_uint), ("device", c_uint),
        ("device_id", c_uint), ("subsystem_id", c_uint), ("bus_id", c_char * 32),
    ]  # fmt: skip


def _answer(*kinds: Any, names: tuple[str, ...]) -> Callable[[Callable[..., int | None]], Any]:
    """Return a decorator that registers a function for NVML names; the function returns a status, or None for success."""

    def register(function: Callable[..., int | None]) -> Any:
        def called(*args: Any) -> int:
            return (function(*args) or 0) if _gpus else NOT_LOADED

        callback = ctypes.CFUNCTYPE(c_int, *kinds)(called)
        answers.update(dict.fromkeys(names, callback))
        return function

    return register


def _of_device(*kinds: Any, names: tuple[str, ...]) -> Callable[[Callable[..., None]], Any]:
    """Return a decorator as `_answer` does, for functions that take a device index first."""

    def register(function: Callable[..., None]) -> Any:
        def called(handle: int | None, *args: Any) -> int:
            if handle is None or handle > _installed():
                return _BAD_ARGUMENT
            function(handle - 1, *args)
            return 0

        return _answer(_Handle, *kinds, names=names)(called)

    return register


def _error_string(status: int) -> int | None:
    text = _TEXTS.get(status, b"Unknown Error")
    return ctypes.cast(c_char_p(text), c_void_p).value


answers["nvmlErrorString"] = ctypes.CFUNCTYPE(c_void_p, c_int)(_error_string)


@_answer(names=("nvmlInit", "nvmlInit_v2", "nvmlShutdown"))
def _nothing() -> None:
    """Do nothing: NVML needs no initialisation or shutdown."""


@_answer(c_uint, names=("nvmlInitWithFlags",))
def _init_with_flags(flags: int) -> None:
    """Do nothing: NVML needs no initialisation."""


@_answer(POINTER(c_char), c_uint, names=("nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion"))
def _driver(text: Any, size: int) -> None:
    _write(text, size, _DRIVER)


@_answer(POINTER(c_int), names=("nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"))
def _cuda(version: Any) -> None:
    major, minor = (torch.version.cuda or "0.0").split(".")[:2]
    version[0] = 1000 * int(major) + 10 * int(minor)


@_answer(POINTER(c_uint), names=("nvmlDeviceGetCount", "nvmlDeviceGetCount_v2"))
def _count(count: Any) -> None:
    count[0] = _installed()


@_answer(c_uint, POINTER(_Handle), names=("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2"))
def _by_index(index: int, handle: Any) -> int | None:
    if index >= _installed():
        return _BAD_ARGUMENT
    handle[0] = index + 1
    return None


@_answer(c_char_p, POINTER(_Handle), names=("nvmlDeviceGetHandleByUUID",))
def _by_uuid(uuid: bytes, handle: Any) -> int | None:
    return _found(handle, lambda index: _uuid_of(index) == uuid)


@_answer(
    c_char_p, POINTER(_Handle), names=("nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetHandleByPciBusId_v2")
)
def _by_bus(bus: bytes, handle: Any) -> int | None:
    return _found(handle, lambda index: _bus_of(index) == bus)


def _installed() -> int:
    """Return the number of GPUs in the machine, including those that ``CUDA_VISIBLE_DEVICES`` hides from the process."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return max([len(_gpus[0].devices), *(int(name) + 1 for name in named if name.strip().isdigit())])


def _found(handle: Any, fits: Callable[[int], bool]) -> int | None:
    for index in range(_installed()):
        if fits(index):
            handle[0] = index + 1
            return None
    return _NOT_FOUND


@_of_device(POINTER(c_uint), names=("nvmlDeviceGetIndex", "nvmlDeviceGetMinorNumber"))
def _index(index: int, found: Any) -> None:
    found[0] = index


@_of_device(POINTER(c_char), c_uint, names=("nvmlDeviceGetName",))
def _name(index: int, text: Any, size: int) -> None:
    _write(text, size, figures.NAME.encode())


@_of_device(POINTER(c_char), c_uint, names=("nvmlDeviceGetUUID",))
def _uuid(index: int, text: Any, size: int) -> None:
    _write(text, size, _uuid_of(index))


@_of_device(POINTER(c_int), POINTER(c_int), names=("nvmlDeviceGetCudaComputeCapability",))
def _capability(index: int, major: Any, minor: Any) -> None:
    major[0], minor[0] = figures.CAPABILITY


@_of_device(POINTER(_Memory), names=("nvmlDeviceGetMemoryInfo",))
@_of_device(POINTER(_MemoryWithReserved), names=("nvmlDeviceGetMemoryInfo_v2",))
def _memory(index: int, memory: Any) -> None:
    memory[0].total = memory[0].free = figures.MEMORY_BYTES
    memory[0].used = 0


@_of_device(POINTER(_Utilization), names=("nvmlDeviceGetUtilizationRates",))
def _utilization(index: int, rates: Any) -> None:
    rates[0].gpu = rates[0].memory = 0


@_of_device(
    POINTER(c_uint), c_void_p,
    names=tuple(f"nvmlDeviceGet{kind}RunningProcesses{of}" for kind in ("Compute", "Graphics") for of in ("", "_v2", "_v3")),
)  # fmt: skip
def _processes(index: int, count: Any, _: Any) -> None:
    count[0] = 0


@_of_device(_Handle, c_int, POINTER(c_int), names=("nvmlDeviceGetP2PStatus",))
def _connected(index: int, other: int, capability: int, status: Any) -> None:
    status[0] = _NOT_CONNECTED


@_of_device(
    POINTER(_Pci), names=("nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3")
)
def _pci(index: int, pci: Any) -> None:
    bus = _bus_of(index)
    pci[0].bus_id, pci[0].bus_id_legacy = bus, bus[4:]
    pci[0].domain, pci[0].bus, pci[0].device = 0, index + 1, 0


def _uuid_of(index: int) -> bytes:
    return f"GPU-{figures.uuid(index)}".encode()


def _bus_of(index: int) -> bytes:
    return f"00000000:{index + 1:02X}:00.0".encode()


def _write(text: Any, size: int, value: bytes) -> None:
    ctypes.memmove(text, value[: size - 1] + b"\0", min(size, len(value) + 1))
