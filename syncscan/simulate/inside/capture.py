"""Programs whose graph is captured: TorchScript runs, other captures that name the device raise an error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from .errors import SimulationError
from .kinds import is_cuda_device, tensors_in

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_FAKE = torch._C._TorchDispatchModeKey.FAKE
_PROXY = torch._C._TorchDispatchModeKey.PROXY
_mode = torch._C._get_dispatch_mode


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace the entry points of TorchScript, `torch.export` and fake tensors."""
    for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        patches.replace(kind, "__call__", _called(gpu, kind.__call__))
    patches.replace(torch.jit, "load", _load(torch.jit.load))
    if "torch.export" in sys.modules:
        patches.replace(torch.export, "export", _export(torch.export.export))
    fake: Any = sys.modules.get("torch._subclasses.fake_tensor")
    if hasattr(getattr(fake, "FakeTensorMode", None), "avoid_device_init"):
        patches.replace(fake.FakeTensorMode, "avoid_device_init", True)  # no device to initialise
    if hasattr(fake, "init_gpu_context"):
        patches.replace(fake, "init_gpu_context", lambda device: None)  # no context to create


def is_faked(args: Any, kwargs: Any) -> bool:
    """Return whether torch only infers shapes, with fake tensors, as in `torch.export`; such calls need no device.

    Raises SimulationError for a tensor on CUDA that requires a gradient if torch was built without CUDA: its
    autograd would abort the process.
    """
    if _mode(_FAKE) is None:
        return False
    if torch.is_grad_enabled() and not torch._C._has_cuda:
        for tensor in tensors_in((args, kwargs or {})):
            if tensor.requires_grad and tensor.device.type == "cuda":
                raise _refusal("capturing a graph with gradients of tensors on CUDA", "or under no_grad")
    return True


def refuse_recording() -> None:
    """Raise SimulationError under `make_fx`, whose graph would create a CUDA tensor on the CPU."""
    if _mode(_PROXY) is not None:
        raise _refusal("make_fx of code that makes tensors on CUDA", "or by torch.fx.symbolic_trace")


def _refusal(what: str, otherwise: str) -> SimulationError:
    return SimulationError(f"{what} cannot be simulated: capture it on the CPU {otherwise}")


def _export(original: Any) -> Any:
    def export(*args: Any, strict: bool = False, **kwargs: Any) -> Any:
        if strict:
            raise SimulationError(
                "torch.export.export with strict=True cannot be simulated: write strict=False"
            )
        return original(*args, strict=False, **kwargs)

    return export


def _called(gpu: Gpu, original: Any) -> Any:
    """Wrap a TorchScript function so that tensors created "on the device of the operand" are on the operands' simulated device."""

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        operands = (*args, *_first_parameter(getattr(function, "owner", None)))
        with gpu.inside(original, operands, kwargs):
            return original(function, *args, **kwargs)

    return call


def _first_parameter(module: Any) -> list[Any]:
    """Return the first parameter of a compiled module in a list, or an empty list."""
    if module is None:
        return []
    held: Any = torch._C
    own = [tensor for _, tensor in held.ParameterDict(module).items()]
    parts = [part for _, part in held.ModuleDict(module).items()]
    return own[:1] or next((found for found in map(_first_parameter, parts) if found), [])


def _load(original: Any) -> Any:
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not is_cuda_device(map_location):
            return original(f, map_location, *args, **kwargs)
        return original(f, "cpu", *args, **kwargs).to(map_location)

    return load
