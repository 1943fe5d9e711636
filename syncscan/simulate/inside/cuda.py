"""``torch.cuda`` and related modules on the simulated GPU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from . import autocast, figures, legacy
from .errors import CudaError, SimulationError
from .generators import make_generator
from .streams import CurrentStreams, make_classes
from .tracebacks import program_frames

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_RULED_OUT = (
    "MemPool",
    "ExternalStream",
    "current_blas_handle",
    "current_solver_handle",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "get_stream_from_external",
)


class SimulatedCuda:
    """The replacements for ``torch.cuda``, ``torch.accelerator`` and their streams, events and generators."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.debug_mode = 0
        self.generator_class: Any = make_generator(torch.Generator)
        self.classes, self.streams = make_classes(gpu), CurrentStreams()

    def install(self, patches: Patches) -> None:
        """Replace these objects in every torch module that holds them."""
        for name, value in {
            **self._device(),
            **self._memory(),
            **self._streams(),
            **self._refusals(),
        }.items():
            patches.replace_everywhere(torch.cuda, name, value)
        patches.replace(torch, "Stream", self.classes.any_stream)
        patches.replace(torch, "Event", self.classes.any_event)
        patches.replace(torch, "Generator", self.generator_class)
        patches.replace(torch.version, "cuda", torch.version.cuda or "12.8")
        patches.replace(torch.backends.cuda, "is_built", _is_built(torch.backends.cuda.is_built))
        patches.replace(torch._C, "__getattr__", _refuse_missing)
        for name, value in self._calls().items():
            patches.replace(torch._C, name, value)
        patches.replace(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
        patches.replace(torch.cuda.nvtx, "_nvtx", _Nvtx())
        self._install_accelerator(patches)
        self.gpu.autocast = autocast.install(patches)
        legacy.install(patches)

    def _device(self) -> dict[str, Any]:
        return {
            "is_available": lambda: True,
            "is_initialized": self._is_initialized(torch.cuda.is_initialized),
            "init": lambda: None,
            "_lazy_init": self._start_cuda(torch.cuda._lazy_init),
            "device_count": lambda: len(self.gpu.devices),
            "current_device": lambda: self.gpu.current,
            "_exchange_device": self._exchange_device,
            "_maybe_exchange_device": self._exchange_device,
            "get_device_name": lambda device=None: figures.NAME,
            "get_device_capability": lambda device=None: figures.CAPABILITY,
            "get_device_properties": self._properties,
            "_get_device_properties": lambda device=None: figures.properties(self._index(device)),
            "get_arch_list": lambda: ["sm_90"],
            "is_bf16_supported": lambda including_emulation=True: True,
            "is_tf32_supported": lambda: True,
            "can_device_access_peer": lambda device, peer_device: False,
            "default_generators": tuple(
                self.generator_class(device, torch.default_generator) for device in self.gpu.devices
            ),
            "set_sync_debug_mode": self._set_debug_mode,
            "get_sync_debug_mode": lambda: self.debug_mode,
            "ipc_collect": lambda: None,
            "_sleep": lambda cycles: None,
            "utilization": lambda device=None: 0,
        }

    @staticmethod
    def _memory() -> dict[str, Any]:
        """Return the memory functions, which report no use: tensors lie in host memory, and limits are not simulated."""
        in_use = ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved")
        silent = (
            "reset_peak_memory_stats", "reset_accumulated_memory_stats",
            "reset_max_memory_allocated", "reset_max_memory_cached",
        )  # fmt: skip
        silent_of_host = (
            "empty_cache",
            "reset_peak_host_memory_stats",
            "reset_accumulated_host_memory_stats",
        )
        return {
            **{name: lambda device=None: 0 for name in in_use},
            **{name: lambda device=None: None for name in silent},
            **{name: lambda: None for name in silent_of_host},
            "set_per_process_memory_fraction": lambda fraction, device=None: None,
            "memory_stats": lambda device=None: figures.memory_stats(),
            "memory_stats_as_nested_dict": lambda device=None: {},
            "host_memory_stats": _no_figures,
            "host_memory_stats_as_nested_dict": _no_figures,
            "get_per_process_memory_fraction": lambda device=None: 1.0,
            "memory_summary": lambda device=None, abbreviated=False: "(simulated device: no memory in use)",
            "memory_snapshot": lambda mempool_id=None, include_traces=True: [],
            "mem_get_info": lambda device=None: (figures.MEMORY_BYTES, figures.MEMORY_BYTES),
            "get_allocator_backend": lambda: "native",
        }

    def _streams(self) -> dict[str, Any]:
        return {
            "Stream": self.classes.stream,
            "Event": self.classes.event,
            "synchronize": self._synchronize,
        }

    def _calls(self) -> dict[str, Any]:
        """Return the functions in C++ that torch's own functions call."""
        return {
            "_cuda_setDevice": self._set_device,
            "_cuda_getCurrentStream": self.streams.of_cuda,
            "_cuda_getDefaultStream": self.streams.default_of_cuda,
            "_cuda_setStream": self.streams.set,
            "_host_emptyCache": lambda: None,
        }

    @staticmethod
    def _refusals() -> dict[str, Any]:
        return {name: _refuse(name) for name in _RULED_OUT}

    def _is_initialized(self, original: Any) -> Any:
        return lambda: self.gpu.operations is not None or original()

    def _start_cuda(self, original: Any) -> Any:
        def lazy_init() -> None:
            """Do nothing in a simulated thread; call the original in other threads."""
            if self.gpu.operations is None:
                original()

        return lazy_init

    def _index(self, device: Any) -> int:
        """Return the index of a device argument; the current device where the argument names none, as in torch."""
        names_one = isinstance(device, (int, str, torch.device))
        return self.gpu.cuda_index(device) if names_one else self.gpu.current

    def _properties(self, device: Any = None) -> Any:
        try:
            return figures.properties(self._index(device))
        except CudaError:  # which torch finds before it calls CUDA
            raise AssertionError("Invalid device id") from None

    def _set_device(self, index: int) -> None:
        if index >= 0:
            self.gpu.current = self.gpu.cuda_index(index)

    def _exchange_device(self, device: int) -> int:
        before = self.gpu.current
        self._set_device(device)
        return before

    def _set_debug_mode(self, debug_mode: int | str) -> None:
        names = {"default": 0, "warn": 1, "error": 2}
        self.debug_mode = names[debug_mode] if isinstance(debug_mode, str) else debug_mode

    def _stream_of_accelerator(self, device_index: int) -> Any:
        stream_id, index, kind = self.streams.of_cuda(device_index)
        return self.classes.any_stream(stream_id=stream_id, device_index=index, device_type=kind)

    def _set_stream_of_accelerator(self, original: Any) -> Any:
        def set_stream(stream: Any) -> None:
            if isinstance(stream, self.classes.any_stream):
                self.streams.set(stream.stream_id, stream.device_index, stream.device_type)
            else:
                original(stream)

        return set_stream

    def _synchronize(self, device: Any = None) -> None:
        self.gpu.judge_call("torch.cuda.synchronize", {"device": device})

    def _install_accelerator(self, patches: Patches) -> None:
        if not hasattr(torch, "accelerator"):  # before torch 2.6
            return
        values = {
            "is_available": lambda: True,
            "device_count": lambda: len(self.gpu.devices),
            "current_accelerator": lambda check_available=False: torch.device("cuda"),
            "current_device_index": lambda: self.gpu.current,
            "current_device_idx": lambda: self.gpu.current,
            "get_device_capability": lambda device=None: {"supported_dtypes": figures.dtypes()},
            "get_memory_info": lambda device=None: (figures.MEMORY_BYTES, figures.MEMORY_BYTES),
            "empty_host_cache": lambda: None,
            "synchronize": lambda device=None: self.gpu.judge_call(
                "torch.accelerator.synchronize", {"device": device}
            ),
            **self._memory(),
        }
        for name, value in values.items():
            if hasattr(torch.accelerator, name):
                patches.replace_everywhere(torch.accelerator, name, value)
        below = {
            "_get_accelerator": lambda check=None: torch.device("cuda"),
            "_accelerator_setDeviceIndex": self._set_device,
            "_accelerator_exchangeDevice": self._exchange_device,
            "_accelerator_maybeExchangeDevice": self._exchange_device,
            "_accelerator_getStream": self._stream_of_accelerator,
            "_accelerator_setStream": self._set_stream_of_accelerator(
                getattr(torch._C, "_accelerator_setStream", None)
            ),
        }
        for name, value in below.items():
            if hasattr(torch._C, name):
                patches.replace(torch._C, name, value)


def _no_figures() -> dict[str, Any]:
    return {}


def _is_built(original: Any) -> Any:
    def is_built() -> bool:
        """Return the truth while a torch module is being imported, as torch imports more in a CUDA build; else True."""
        asking = next(program_frames(sys._getframe()))
        importing = asking.f_code.co_name == "<module>" and asking.f_globals["__name__"].startswith("torch.")
        return bool(original()) if importing else True

    return is_built


class _MissingError(SimulationError, AttributeError):
    """The attribute is missing because torch was built without CUDA; ``hasattr`` returns False."""


def _refuse_missing(name: str) -> Any:
    """Raise the error for a function of ``torch._C`` that only CUDA builds have."""
    if name.startswith("_cuda"):
        raise _MissingError(f"torch._C.{name} cannot be simulated: it needs a real GPU")
    raise AttributeError(f"module 'torch._C' has no attribute {name!r}")


def _refuse(name: str) -> type:
    """Return a class that cannot be instantiated, so that annotations may still name it."""

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise SimulationError(f"torch.cuda.{name} cannot be simulated: it needs a real GPU")

    return type(name, (), {"__new__": refused, "__module__": "torch.cuda"})


class _Nvtx:
    """NVTX ranges without a profiler."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: 0
