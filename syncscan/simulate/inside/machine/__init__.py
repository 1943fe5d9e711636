"""The machine around torch: the driver libraries that programs and extension modules load by name."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import nvml
from .elf import load_library

if TYPE_CHECKING:
    from ..gpu import Gpu
    from ..patches import Patches

_NO_DEVICE = 100  # the status that all driver functions return
_FUNCTIONS = Path(__file__).with_name("driver_functions.txt")  # all declared in the headers of CUDA 13


def install(gpu: Gpu, patches: Patches) -> None:
    """Provide the driver libraries where none is installed, and let NVML report the simulated devices.

    The CUDA driver only fails; its purpose is to let extension modules load that link to it. Libraries stay
    loaded. After the simulation, both behave as on a machine without a GPU.
    """
    for name, make in (("libcuda.so.1", _make_driver), ("libnvidia-ml.so.1", _make_nvml)):
        _find_or_make(name, make)
    patches.switch(lambda: None, nvml.answer_for, gpu)
    patches.replace(ctypes.CDLL, "__init__", _without_nccl(ctypes.CDLL.__init__))


def _without_nccl(load: Any) -> Any:
    """Wrap `ctypes.CDLL` to refuse torch's NCCL, which needs a GPU; programs then fall back to ``torch.distributed``."""

    def covered(library: Any, name: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(name, str) and Path(name).name.startswith("libnccl.so"):
            raise OSError(f"{name}: not simulated; torch.distributed is")
        load(library, name, *args, **kwargs)

    return covered


@cache
def _find_or_make(name: str, make: Any) -> Any:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return make(name)


def _make_driver(name: str) -> Any:
    return load_library(name, _FUNCTIONS.read_text(encoding="ascii").split(), _NO_DEVICE, {})


def _make_nvml(name: str) -> Any:
    return load_library(name, (), nvml.NOT_LOADED, nvml.answers)
