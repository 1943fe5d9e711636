"""What a program leaves behind, in a form that can be compared."""

from __future__ import annotations

import torch


def described(tensor: torch.Tensor, *, content: bool) -> tuple[object, ...]:
    strided = tensor.layout == torch.strided
    return (
        bits(tensor.detach()) if content else None,
        tensor.shape,
        tensor.stride() if strided else None,
        tensor.dtype,
        tensor.device,
        tensor.layout,
        tensor.requires_grad,
        tensor.is_leaf,
    )


def bits(tensor: torch.Tensor) -> object:
    """The content of a tensor, whatever its dtype; NaN is like NaN."""
    if tensor.layout != torch.strided:
        return bits(tensor.coalesce().values())
    try:
        return repr(tensor.tolist())
    except Exception:
        return bytes(tensor.cpu().contiguous().untyped_storage().tolist())


def alike(before: tuple[object, ...], after: tuple[object, ...]) -> bool:
    """Whether two outcomes are the same; an error may be a special case of the other, which catches it too."""
    if len(before) == len(after) == 1:
        return issubclass(after[0], before[0])
    return before == after
