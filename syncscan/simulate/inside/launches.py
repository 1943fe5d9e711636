"""Triton kernels: a launch returns without running the kernel.

A real launch never blocks, so the host behaves the same.

The outputs of a kernel keep their old contents, unless Triton's interpreter runs the kernel. The interpreter
runs kernels by which the program decides, kernels that are declared so, or all kernels. An autotuner takes
its first configuration.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from . import figures
from .interpreter import interpret, kernel_name, not_run
from .stores import written
from .taint import Written, taint

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches


# Results by which programs decide: counts, lengths, tokens, indices. Bytes may be 8-bit floats instead.
_DECIDING = frozenset({torch.bool, torch.int16, torch.int32, torch.int64})
_FEW_ELEMENTS = 1 << 16
_FEW_PROGRAMS = 1 << 10  # the interpreter takes at least a millisecond for each


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace launches in Triton, now or when the program imports Triton."""
    patches.when_imported("triton.runtime.jit", lambda jit: _replace_launch(gpu, patches, jit))
    patches.when_imported("triton.runtime.autotuner", lambda tuner: _replace_tuning(patches, tuner))
    patches.when_imported("triton.runtime.driver", lambda driver: _replace_driver(gpu, patches, driver))


def _replace_launch(gpu: Gpu, patches: Patches, jit: Any) -> None:
    def run(kernel: Any, *args: Any, grid: Any = None, warmup: bool = False, **kwargs: Any) -> Any:
        if callable(grid):
            grid = grid(_arguments(kernel, args, kwargs))  # code of the program
        if warmup:
            return _Compiled()
        if _is_interpreted(gpu, kernel.fn, grid, args, kwargs):
            try:
                interpret(kernel, grid, args, kwargs)
            except Exception:  # the interpreter lacks some features of Triton
                not_run(gpu, kernel.fn, args, kwargs)
        else:
            name = kernel_name(kernel.fn)
            gpu.launched(name)
            taint(written(kernel.fn, args, kwargs), Written({name}))
        return _Compiled()

    patches.replace(jit.JITFunction, "run", run)


def _is_interpreted(gpu: Gpu, function: Any, grid: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    """Return whether the interpreter runs a launch: by the user's choice, or because the program decides by its results."""
    name = kernel_name(function)
    if name in gpu.uncomputed.refused or gpu.kernels == "zeros":
        return False
    declared = gpu.table.find(f"{function.__module__}.{function.__qualname__}")
    if gpu.kernels == "interpret" or (declared is not None and declared.interpret):
        return True
    decides = name in gpu.uncomputed.read or any(map(_decides, written(function, args, kwargs)))
    return decides and math.prod(grid if isinstance(grid, (tuple, list)) else (grid,)) <= _FEW_PROGRAMS


def _decides(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in _DECIDING and value.numel() <= _FEW_ELEMENTS


def _arguments(kernel: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a launch by the parameter names of the kernel."""
    defaults = {parameter.name: parameter.default for parameter in kernel.params if parameter.has_default}
    return {**defaults, **dict(zip(kernel.arg_names, args)), **kwargs}


def _replace_tuning(patches: Patches, tuner: Any) -> None:
    patches.replace(tuner.Autotuner, "_bench", lambda tuned, *args, **kwargs: [0.0, 0.0, 0.0])


def _replace_driver(gpu: Gpu, patches: Patches, driver: Any) -> None:
    """Replace Triton's driver, which would compile a C program that queries CUDA."""
    config = driver.driver
    for name in ("_active", "_default"):
        if name in vars(config):
            patches.replace(config, name, _Driver(gpu))


class _Compiled:
    """The result of a launch: a kernel without registers or shared memory."""

    n_regs = n_spills = n_max_threads = 0
    num_warps, num_stages, shared = 4, 1, 0

    def __init__(self) -> None:
        self.metadata = SimpleNamespace(num_warps=4, num_stages=1, num_ctas=1, shared=0)
        self.asm: dict[str, Any] = {}

    def __getitem__(self, grid: Any) -> Any:
        return lambda *args, **kwargs: None

    def _init_handles(self) -> None:
        """Do nothing: a launch has no binary to load."""


class _Driver:
    """Triton's view of the machine."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.utils = SimpleNamespace(get_device_properties=_properties)

    def get_current_device(self) -> int:
        return self._gpu.current

    def set_current_device(self, index: int) -> None:
        self._gpu.current = index

    @staticmethod
    def get_device_capability(index: int = 0) -> tuple[int, int]:
        return figures.CAPABILITY

    @staticmethod
    def get_current_stream(index: int | None = None) -> int:
        return int(torch.cuda.current_stream(index).cuda_stream)

    def get_active_torch_device(self) -> torch.device:
        return self._gpu.devices[self._gpu.current]

    @staticmethod
    def get_device_interface() -> Any:
        return torch.cuda

    @staticmethod
    def get_current_target() -> Any:
        """Return the GPU target for which Triton would compile a kernel."""
        from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found]  # noqa: PLC0415 (where the program has Triton)

        major, minor = figures.CAPABILITY
        return GPUTarget("cuda", 10 * major + minor, 32)

    @staticmethod
    def get_benchmarker() -> Any:
        """Return a benchmarker that measures nothing and reports 0 ms."""
        return lambda function, quantiles=(), **options: [0.0] * len(quantiles) if quantiles else 0.0

    @staticmethod
    def get_empty_cache_for_benchmark() -> torch.Tensor:
        return torch.empty(0, dtype=torch.int, device="cuda")

    @staticmethod
    def clear_cache(cache: torch.Tensor) -> None:
        """Do nothing: the cache for benchmarks is empty."""


def _properties(index: int) -> dict[str, int]:
    known = figures.properties(index)
    return {
        "max_shared_mem": known.shared_memory_per_block_optin,
        "max_num_regs": known.regs_per_multiprocessor,
        "multiprocessor_count": known.multi_processor_count,
        "warpSize": known.warp_size,
        "sm_clock_rate": known.clock_rate,
        "mem_clock_rate": known.memory_clock_rate,
        "mem_bus_width": known.memory_bus_width,
    }
