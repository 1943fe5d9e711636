"""The legacy CUDA tensor types, such as ``torch.cuda.FloatTensor``, which predate dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .marks import cuda_index
from .overridable import call_fitting
from .tracebacks import without_our_frames

if TYPE_CHECKING:
    from .patches import Patches


class _CudaType(type):
    """A tensor type of one dtype and layout on CUDA: creates such tensors, and recognises them in `isinstance`."""

    dtype: torch.dtype
    layout: torch.layout
    is_sparse: bool
    is_cuda = True

    @without_our_frames
    def __call__(cls, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Make a tensor from sizes, from numbers, or from another tensor."""
        made: torch.Tensor = call_fitting(cls._make, cls._of_host(), args, kwargs)
        if not isinstance(made, cls):
            raise TypeError(f"expected {cls.__module__}.{cls.__name__} (got {made.type()})")
        return made

    def _make(cls, *args: Any, device: Any = "cuda") -> Any:
        if not args or isinstance(args[0], (int, torch.Size)):
            return torch.empty(*(args or (0,)), dtype=cls.dtype, layout=cls.layout, device=device)
        if not isinstance(args[0], torch.Tensor):
            return cls._of_host()(*args).cuda(device)
        if cls.layout is torch.sparse_coo:
            return torch.sparse_coo_tensor(*args)
        return torch.ops.aten.alias(args[0])

    def _of_host(cls) -> Any:
        """Return the same type for the CPU."""
        return getattr(torch.sparse if cls.is_sparse else torch, cls.__name__)

    def __instancecheck__(cls, value: Any) -> bool:
        return (
            isinstance(value, torch.Tensor)
            and value.dtype is cls.dtype
            and value.layout is cls.layout
            and cuda_index(value) is not None
        )


def install(patches: Patches) -> None:
    """Replace these types in ``torch.cuda`` and ``torch.cuda.sparse``."""
    for module in (torch.cuda, torch.cuda.sparse):
        for name, before in list(vars(module).items()):
            if type(before).__name__ == "tensortype":
                attributes = {
                    key: getattr(before, key) for key in ("__module__", "dtype", "layout", "is_sparse")
                }
                patches.replace(module, name, _CudaType(name, (), attributes))
    set_host_type = torch.set_default_tensor_type

    def set_default_tensor_type(t: Any, /) -> None:
        name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
        set_host_type(name.replace("torch.cuda.", "torch."))
        torch.set_default_device("cuda" if name.startswith("torch.cuda.") else None)

    patches.replace(torch, "set_default_tensor_type", set_default_tensor_type)
