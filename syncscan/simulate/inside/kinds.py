"""What the kinds of the operation table mean for real values; see ``syncscan/ops.py``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from .marks import PINNED, cuda_index, place

# The kinds that no value of a plain type is of, and no tuple of such values.
TENSOR_KINDS = frozenset(
    {"gpu", "cpu", "tensor", "gpu mask", "cpu mask", "gpu scalar", "gpu index", "cpu index"}
    | {"gpu slice", "gpu sequence"}
)
_LOOKED_AT = 64  # of the elements of a list; one of a million numbers holds no tensor either
_MASKS = (torch.bool, torch.uint8)


def size_in_bytes(value: Any) -> float:
    """The memory of a tensor or array in bytes; infinite where that is not known."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return float(getattr(value, "nbytes", "inf"))


def is_cuda_device(value: Any) -> bool:
    """Whether a device argument names a GPU: "cuda", "cuda:1", a device, or a plain index."""
    if isinstance(value, torch.device):
        return value.type == "cuda"
    if isinstance(value, str):
        return value.partition(":")[0] == "cuda"
    return isinstance(value, int) and not isinstance(value, bool)


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor in nested lists, tuples, dicts and slices."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value[:_LOOKED_AT] for tensor in tensors_in(item)]
    return []


def _gpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and cuda_index(value) is not None


def _cpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and cuda_index(value) is None


def _mask(value: Any) -> bool:
    return value.dtype in _MASKS


def _index(value: Any) -> bool:
    return not _mask(value) and value.dim() > 0


def _array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _number(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return isinstance(value, (int, float, complex)) or (
        numpy is not None and isinstance(value, numpy.generic)
    )


def _sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or _array(value)


def _host_data(value: Any) -> bool:
    return _number(value) or _cpu(value) or (_sequence(value) and not any(map(_gpu, tensors_in(value))))


def _pinned(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and place(value) == PINNED


KINDS: dict[str, Callable[[Any], bool]] = {
    "gpu": _gpu,
    "cpu": _cpu,
    "gpu mask": lambda value: _gpu(value) and _mask(value),
    "cpu mask": lambda value: _cpu(value) and _mask(value),
    "gpu scalar": lambda value: _gpu(value) and value.dim() == 0,
    "gpu index": lambda value: _gpu(value) and _index(value),
    "cpu index": lambda value: _cpu(value) and _index(value),
    "gpu slice": lambda value: isinstance(value, slice) and any(map(_gpu, tensors_in(value))),
    "gpu sequence": lambda value: isinstance(value, (list, tuple)) and any(map(_gpu, tensors_in(value))),
    "gpu device": is_cuda_device,
    "cpu device": lambda value: isinstance(value, (str, torch.device)) and str(value).startswith("cpu"),
    "host data": _host_data,
    "number": _number,
    "sequence": _sequence,
    "pageable": lambda value: (_cpu(value) and not _pinned(value)) or _array(value),
    "pinned": _pinned,
    "scalar": lambda value: _number(value) or (isinstance(value, torch.Tensor) and value.dim() == 0),
    "true": lambda value: _number(value) and bool(value),
    "false": lambda value: _number(value) and not value,
    "bfloat16": lambda value: isinstance(value, torch.Tensor) and value.dtype is torch.bfloat16,
    "strided": lambda value: isinstance(value, torch.Tensor) and not value.is_contiguous(),
    "tensor": lambda value: isinstance(value, torch.Tensor),
}
