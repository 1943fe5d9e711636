"""The machine around torch: the libraries of the driver, which programs and extension modules load by name."""

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

_NO_DEVICE = 100  # what the functions of CUDA's driver answer
_FUNCTIONS = Path(__file__).with_name("driver_functions.txt")  # all that the headers of CUDA 13 declare


def install(gpu: Gpu, patches: Patches) -> None:
    """Let the libraries of the driver be found, where none is installed, and NVML answer for these devices.

    CUDA's driver only fails: it is there so that extension modules which are linked to it can be loaded. What is
    loaded stays: when the simulation has ended, both libraries answer what they do on a machine without a GPU.
    """
    for name, make in (("libcuda.so.1", _make_driver), ("libnvidia-ml.so.1", _make_nvml)):
        _find_or_make(name, make)
    patches.switch(lambda: None, nvml.answer_for, gpu)
    patches.replace(ctypes.CDLL, "__init__", _without_nccl(ctypes.CDLL.__init__))


def _without_nccl(load: Any) -> Any:
    """NCCL, which comes with torch, needs a GPU: programs that load it themselves do without, through ``torch.distributed``."""

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
