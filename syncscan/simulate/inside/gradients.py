"""The device of gradients: that of their tensors.

For torch, all tensors of a graph are on the CPU. A gradient that torch creates "on the device of the input"
thus has no simulated device yet. The graph determines the device: all connected tensors share one, except
across transfers. The node of a transfer records its target.
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
_PLACE = "_syncscan_place"  # key in a node's metadata: the CUDA device of its result, or None
_READ = "_syncscan_read"  # key in a node's metadata: the backward in which its read was counted
# Formulas that read from their operand whether it holds a zero. Under a dispatch mode torch takes others, without
# the read (`isTensorSubclassLike` in torch's FunctionsManual.cpp), so no kernel shows it.
_PRODUCTS = frozenset({"ProdBackward0", "ProdBackward1"})
_CUMULATIVE_PRODUCT = "CumprodBackward0"


def move(tensor: Tensor, where: int | None, options: dict[str, Any]) -> Tensor:
    """Return a copy of a tensor on another device (None: the host); its gradient is transferred back."""
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
    """Record the device of a tensor on the autograd node that made it, whose operands may be on another device."""
    node: Any = tensor.grad_fn
    if node is not None:
        node.metadata[_PLACE] = cuda_index(tensor)


def carried(values: Iterable[Any], where: int | None, *, any_shape: bool) -> list[Any]:
    """Return the operands of a call, with some of those that require a gradient transferred to ``where``.

    Operations accept 0-dimensional host tensors beside GPU tensors, so these are transferred. ``any_shape``
    transfers all, for copies into other memory.
    """
    return [move(value, where, {}) if _travels(value, where, any_shape) else value for value in values]


def _travels(value: Any, where: int | None, any_shape: bool) -> bool:
    if not isinstance(value, Tensor) or not value.requires_grad or (source := cuda_index(value)) == where:
        return False
    return any_shape or (source is None and value.dim() == 0)


def place_in_backward() -> int | None:
    """Return the index of the CUDA device on which the current backward node makes its gradients, or None for the host.

    The nearest leaf or transfer in the graph decides; the nodes on the path to it cache the answer.
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


def uncalled_reads(operation: str, args: Any) -> tuple[str, int]:
    """Return the current formula of autograd, and how many reads it makes on a GPU that no call shows.

    ``operation`` is the aten call that the formula makes. The first call after the operands are unpacked
    stands for the reads, since a formula that has nothing to compute makes none.
    """
    node: Any = torch._C._current_autograd_node()
    if node is None:
        return "", 0
    formula: str = node.name()
    begins = operation == "eq" if formula == _CUMULATIVE_PRODUCT else operation != "detach"
    if not begins or formula not in {*_PRODUCTS, _CUMULATIVE_PRODUCT}:
        return formula, 0
    if not args or not isinstance(args[0], Tensor) or cuda_index(args[0]) is None:
        return formula, 0
    run = torch._C._current_graph_task_id()
    if node.metadata.get(_READ) == run:
        return formula, 0
    node.metadata[_READ] = run
    return formula, 1 + _selections(formula, args[0])


def _selections(formula: str, operand: Tensor) -> int:
    """Return how often a formula selects by a mask: twice for a cumulative product of zeros, without a second derivative."""
    if formula in _PRODUCTS or torch.is_grad_enabled():
        return 0
    with without_functions(), torch._C._DisableTorchDispatch():
        return 0 if bool(operand.all()) else 2
