"""How the simulation treats each public torch function, and the call of such a function that a thread executes."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _device

from .cpu import casts_on_gpu_alone
from .indexing import STORES, with_uploaded
from .kinds import tensors_in
from .marks import cuda_index, function_modes, set_all, set_place
from .memory import is_unfilled

if TYPE_CHECKING:
    from .conditions import CompiledOperation

device_constructors = _device._device_constructors

# Kinds of results that are on the device of the operands, or no tensors.
_DIRECT = frozenset({"input", "view", "number", "list", "none"})
_STORES = {"__setitem__", *STORES}
# The position of a result on the host although the operands are on a GPU, by operation.
HOST_RESULTS = {"_pack_padded_sequence": 1, "_pad_packed_sequence": 1}


def _is_native(function: Any) -> bool:
    return not isinstance(function, types.FunctionType)


class Scope:
    """The call of a public torch function that a thread currently executes."""

    __slots__ = ("args", "blocked", "function", "kwargs", "made", "operation")

    def __init__(self, function: Any, operation: CompiledOperation | None, args: Any, kwargs: Any) -> None:
        self.function = function
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.made: int | None = None  # the device that the program requests for the result, if any
        self.blocked = False

    @property
    def is_native(self) -> bool:
        """True for a function implemented in C++, whose intermediate tensors are on the device of the operands."""
        return _is_native(self.function)

    def operands(self) -> list[torch.Tensor]:
        """Return all tensors among the arguments."""
        return tensors_in(self.args) + tensors_in(self.kwargs)

    def place(self) -> int | None:
        """Return the index of the CUDA device of the first operand on CUDA, or None."""
        return next((i for i in map(cuda_index, self.operands()) if i is not None), None)


def first_operand(args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the first argument; of arguments that are all named, the first tensor."""
    if args:
        return args[0]
    return next((value for value in kwargs.values() if isinstance(value, torch.Tensor)), None)


def first_place(args: Any, kwargs: dict[str, Any]) -> int | None:
    """Return the index of the CUDA device of the first operand, or None."""
    first = first_operand(args, kwargs)
    return cuda_index(first) if isinstance(first, torch.Tensor) else None


class FunctionPlan:
    """The properties of one public function that decide how the simulation runs its calls."""

    __slots__ = (
        "casts_on_gpu",
        "dense",
        "fills_device",
        "follows",
        "host_result",
        "indexes",
        "is_direct",
        "is_native",
        "operation",
        "places",
        "stores",
        "unfilled",
    )

    def __init__(self, function: Any, operation: CompiledOperation | None) -> None:
        self.operation = operation
        self.dense = operation.of_dense if operation is not None and operation.of_dense.blocks else None
        self.fills_device = function in device_constructors()
        self.is_native = _is_native(function)
        self.casts_on_gpu = casts_on_gpu_alone(function)
        # x.new_tensor(...): on the device of x, for torch always the CPU
        self.follows = operation is not None and operation.result == "input" and "device" in operation.args
        self.places = self.fills_device or self.follows
        self.is_direct = (
            self.is_native and not self.fills_device and operation is not None and operation.result in _DIRECT
        ) and not operation.is_of_library
        self.stores = getattr(function, "__name__", "") in _STORES
        self.indexes = getattr(function, "__name__", "") in {"__getitem__", "__setitem__"}
        self.unfilled = is_unfilled(function)
        self.host_result = HOST_RESULTS.get(getattr(function, "__name__", ""))

    def uploaded(self, scope: Scope, args: Any) -> Any:
        """Return the arguments of a call that was judged, with an index where autograd saves it."""
        return with_uploaded(args) if self.indexes and scope.blocked and torch.is_grad_enabled() else args

    def placed(self, result: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Return the result of a call, marked where its kernels alone would leave it in another place."""
        if self.follows and (where := first_place(args, kwargs)) is not None:
            set_all(result, where)
        if self.host_result is not None:
            set_place(result[self.host_result], None)
        return result


@contextmanager
def without_default_device() -> Iterator[None]:
    """Remove the mode of the default device, as torch does before it calls an override."""
    stack = [torch._C._get_function_stack_at(level) for level in range(function_modes())]
    modes = stack if all(isinstance(mode, _device.DeviceContext) for mode in stack) else []
    for _ in modes:
        torch._C._pop_torch_function_stack()
    try:
        yield
    finally:
        for mode in modes:
            torch._C._push_on_torch_function_stack(mode)
