"""Constructors of simulated CUDA tensors that no torch mode intercepts: storages, nested tensors, DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .errors import SimulationError
from .kinds import is_cuda_device
from .marks import cuda_index, set_all, set_owner_place

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace these constructors in torch."""
    # torch.tensor then makes a CPU tensor and transfers it by a call that modes see.
    patches.switch(torch._C._only_lift_cpu_tensors, torch._C._set_only_lift_cpu_tensors, True)
    patches.replace(torch.UntypedStorage, "__new__", staticmethod(_make_storage(gpu)))
    patches.replace(torch, "range", _make_range(torch.range))
    patches.replace(torch.nested, "nested_tensor", _make_nested(torch.nested.nested_tensor))
    dlpack: Any = torch.utils.dlpack
    for module in (torch, dlpack):
        patches.replace(module, "from_dlpack", _from_dlpack(dlpack.from_dlpack))
    patches.replace(dlpack, "to_dlpack", _to_dlpack(dlpack.to_dlpack))


def _make_storage(gpu: Gpu) -> Any:
    original = torch.UntypedStorage.__new__

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if not is_cuda_device(device):
            return original(cls, *args, **kwargs)
        made: Any = original(cls, *args, **{**kwargs, "device": "cpu"})
        set_owner_place(made, gpu.cuda_index(device))
        return made

    return new


def _make_range(original: Any) -> Any:
    """Return a replacement for `torch.range`, the only constructor that torch does not report to modes."""

    def make(*args: Any, **kwargs: Any) -> Tensor:
        device = kwargs.pop("device", None) or torch.get_default_device()
        made: Tensor = original(*args, **kwargs, device="cpu")
        return made.to(device)  # syncscan: ignore[SYN302] a simulated GPU has no stream to wait for

    make.__name__ = make.__qualname__ = "range"
    return make


def _make_nested(original: Any) -> Any:
    def nested_tensor(tensor_list: Any, **kwargs: Any) -> Any:
        layout, device = kwargs.get("layout"), kwargs.get("device")
        if layout is torch.jagged or not is_cuda_device(device):
            return original(tensor_list, **kwargs)
        made: Tensor = original(tensor_list, **{**kwargs, "device": None, "requires_grad": False}).to(device)
        return made.requires_grad_(kwargs.get("requires_grad", False))

    return nested_tensor


def _from_dlpack(original: Any) -> Any:
    def from_dlpack(ext_tensor: Any, **kwargs: Any) -> Tensor:
        device = kwargs.pop("device", None)
        made: Tensor = original(ext_tensor, **kwargs)
        if isinstance(ext_tensor, Tensor):
            set_all(made, cuda_index(ext_tensor))
        return made if device is None else made.to(device)

    return from_dlpack


def _to_dlpack(original: Any) -> Any:
    def to_dlpack(tensor: Tensor) -> Any:
        if isinstance(tensor, Tensor) and cuda_index(tensor) is not None:
            raise SimulationError(
                "to_dlpack of a CUDA tensor cannot be simulated: a capsule points to a real GPU"
            )
        return original(tensor)

    return to_dlpack
