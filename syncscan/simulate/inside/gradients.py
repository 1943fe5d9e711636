"""Gradients lie where their tensors do.

For torch every tensor of a graph is on the CPU, so what it makes in backward "on the device of the input"
has no place yet. The graph knows the place: all tensors that it connects lie in one, but for those that
were moved, and the node of a move remembers where it went.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from .marks import cuda_index, set_all, set_place, without_functions

_base: Any = torch._C.TensorBase
_functions: Any = torch._C._functions
_Leaf = _functions.AccumulateGrad
_PLACE = "_syncscan_place"  # in the metadata of a node: the CUDA device of what it gave, or None


def move(tensor: Tensor, where: int | None, options: dict[str, Any]) -> Tensor:
    """A copy of a tensor in another place; the gradient of the copy travels back."""
    with without_functions():
        copy: Tensor = _base.to(tensor, copy=True, **options)
    set_place(copy, where)
    if forward_ad._current_level >= 0:
        set_all(forward_ad.unpack_dual(copy).tangent, where)  # type: ignore[no-untyped-call]
    if copy.grad_fn is not None:
        remember_place(copy)
        source = cuda_index(tensor)
        copy.grad_fn.register_hook(lambda grads, _: tuple(_moved_back(grad, source) for grad in grads))
    return copy


def _moved_back(grad: Tensor | None, where: int | None) -> Tensor | None:
    return grad if grad is None or cuda_index(grad) == where else move(grad, where, {})


def remember_place(tensor: Tensor) -> None:
    """Note where a tensor lies on the node that gave it: its operands may lie elsewhere."""
    node: Any = tensor.grad_fn
    if node is not None:
        node.metadata[_PLACE] = cuda_index(tensor)


def carried(values: Iterable[Any], where: int | None, *, any_shape: bool) -> list[Any]:
    """The operands of a call that takes some from elsewhere, those that get a gradient moved to ``where``.

    A number may come from the host; what is copied into other memory, in ``any_shape``.
    """
    return [move(value, where, {}) if _travels(value, where, any_shape) else value for value in values]


def _travels(value: Any, where: int | None, any_shape: bool) -> bool:
    if not isinstance(value, Tensor) or not value.requires_grad or (source := cuda_index(value)) == where:
        return False
    return any_shape or (source is None and value.dim() == 0)


def place_in_backward() -> int | None:
    """The CUDA device that the node which runs now makes its gradients on, or None for the host.

    That of the nearest leaf or move, which all nodes on the way there learn too.
    """
    queue: list[Any] = [torch._C._current_autograd_node()]
    met = set(queue)
    for passed, node in enumerate(queue):
        if type(node) is _Leaf:
            where = cuda_index(node.variable)
        elif node is None or _PLACE in node.metadata:
            where = None if node is None else node.metadata[_PLACE]
        else:
            following = [found for found, _ in node.next_functions if found is not None and found not in met]
            met.update(following)
            queue += following
            continue
        for told in queue[:passed]:
            told.metadata[_PLACE] = where
        return where
    return None
