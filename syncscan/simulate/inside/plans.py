"""The properties of each aten operation that decide how the simulation runs its calls, computed once."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property
from typing import Any

import torch

from . import bodies
from .checks import operations_that_check
from .conditions import CompiledOperation, Table
from .cpu import SeeingConjugates
from .figures import ANSWERS
from .functions import HOST_RESULTS
from .indexing import READS, STORES, check_indices, fills_mask
from .marks import cuda_index, place, set_all, set_place
from .memory import is_unfilled
from .registered import python_kernel

# Operations that accept operands on different devices.
_MIXES = frozenset(
    {
        "copy_", "_to_copy", "copy", "fill_", "fill", "set_", "_foreach_copy_", "_foreach_copy",
        "_pack_padded_sequence", "_pack_padded_sequence_backward", "_pad_packed_sequence",
        "tensor_split", "_cudnn_rnn", "lstm", "gru", "_ctc_loss", "_fused_adam_", "_fused_adamw_", "_fused_sgd_",
        "_foreach_addcdiv_", "_foreach_add_", "_foreach_mul_", "_foreach_div_",
        "_amp_foreach_non_finite_check_and_unscale_", "sparse_coo_tensor", "_sparse_coo_tensor_with_dims_and_tensors",
    }
)  # fmt: skip
HOST = -1  # in place of a device index
NUMBER = -2  # host operands that are all single numbers
NUMBERS = frozenset({bool, int, float, complex})
_accepts_numbers = torch._C._should_allow_numbers_as_tensors  # by the name of an operation


class Plan:
    """The properties of one aten operation."""

    def __init__(self, function: Any, table: Table) -> None:
        self.function = function
        schema: Any = getattr(function, "_schema", None)  # a higher-order operator has none
        namespace, _, name = schema.name.partition("::") if schema else ("", "", str(function))
        self.name = name
        arguments, results = (schema.arguments, schema.returns) if schema else ([], [])
        self.names = [argument.name for argument in arguments]
        self.needs_tensor = _need_tensors(arguments, name.partition(".")[0])
        self.is_view = _are_views(results)
        # Without autograd, torch shows modes the composite operation; else its parts.
        self.is_composite = _is_composite(function)
        self.around = nullcontext if _has_kernel(function, "CPU") else SeeingConjugates
        self.makes_nothing = name != "set_" and bool(schema) and all(result.alias_info for result in results)
        self.reads = name == "_local_scalar_dense"
        self.makes_from_nothing = "device" in self.names and not any(map(_takes_tensor, arguments))
        self.stores = name in STORES
        self.reads_index = name in READS
        self.mixes = namespace not in {"aten", "prims"} or name in _MIXES or self.stores or self.reads_index
        self.python_kernel = python_kernel(function, on_gpu=True)
        self.host_kernel = _host_kernel(function)
        self.body = bodies.find(function)
        self.unfilled = is_unfilled(function)
        self.is_computed = True  # False once the CPU turns out to lack a kernel
        declared = self._entry(table, namespace, name)
        self.declared = None if namespace == "aten" else declared
        self.operation = declared if declared is not None and declared.cases else None
        self._host_result = HOST_RESULTS.get(name)

    @staticmethod
    def _entry(table: Table, namespace: str, name: str) -> CompiledOperation | None:
        """Return the entry of the table; operations of libraries and of the program have one only if declared."""
        return table.find_aten(name) if namespace == "aten" else table.find(f"torch.ops.{namespace}.{name}")

    def with_tensors(self, args: Any) -> Any:
        """Return the arguments with numbers turned into tensors where torch itself does not."""
        return tuple(
            torch.tensor(value, device="cpu") if needs and type(value) in NUMBERS else value
            for value, needs in zip(args, self.needs_tensor)
        )

    def operands(self, args: Any, kwargs: dict[str, Any]) -> tuple[int | None, int | None]:
        """Return the index of the operands' CUDA device, and a second location: another index, `HOST` or `NUMBER`, or None.

        A store has the device of the tensor into which it stores.
        """
        if self.stores:  # indices and single numbers may be on any device
            own, values = cuda_index(args[0]), cuda_index(args[2])
            is_valid = values == own or args[2].dim() == 0 or fills_mask(args)
            return own, None if is_valid else HOST if values is None else values
        source, other = _scan(args, None, None)
        return _scan(tuple(kwargs.values()), source, other) if kwargs else (source, other)

    def check_devices(self, source: int | None, other: int, args: Any) -> None:
        """Raise torch's error for operands on two devices."""
        if self.stores:
            raise mismatch(other if source is None else source, HOST if source is None else other)
        if source is None:
            return
        if self.reads_index:
            check_indices(args)
        elif not self.mixes and (other != NUMBER or self._checks_numbers):
            raise mismatch(source, other)

    @cached_property
    def _checks_numbers(self) -> bool:
        namespace, _, name = self.function.name().partition("::")
        return namespace == "aten" and name in operations_that_check()

    def mark(self, result: Any, where: int) -> None:
        """Mark the results of the operation as being on a device."""
        set_all(result, where)
        if self._host_result is not None:
            set_place(result[self._host_result], None)


def _are_views(results: Any) -> bool:
    aliases = [result.alias_info for result in results]
    return bool(aliases) and all(alias is not None and not alias.is_write for alias in aliases)


def _is_composite(function: Any) -> bool:
    """Return whether an operation consists of others; some do only on devices without their own kernel."""
    has_parts = _has_kernel(function, "CompositeImplicitAutograd") and not _has_kernel(function, "CPU")
    return has_parts and _answer(function) is None


def _host_kernel(function: Any) -> Any:
    """Return the Python function that runs on the host in place of an operation, or None."""
    return _answer(function) or python_kernel(function, on_gpu=False)


def _answer(function: Any) -> Any:
    """Return the function that answers in place of an operation about the device; None for other operations."""
    schema = getattr(function, "_schema", None)
    return None if schema is None else ANSWERS.get(schema.name)


def _has_kernel(function: Any, key: str) -> bool:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return hasattr(function, "_schema") and has_kernel(function.name(), key)


def _need_tensors(arguments: Any, name: str) -> list[bool]:
    """Return for each argument whether a number must become a tensor first, which torch does for some operations."""
    accepts = _accepts_numbers(name)
    return [str(argument.type) == "Tensor" and not accepts for argument in arguments]


def _takes_tensor(argument: Any) -> bool:
    return "Tensor" in str(argument.type)


def _scan(values: Any, source: int | None, other: int | None) -> tuple[int | None, int | None]:
    for value in values:
        if isinstance(value, torch.Tensor):
            where = place(value)
            if where is None or where < 0:
                if other is None or other == NUMBER:
                    other = HOST if value.dim() > 0 else NUMBER
            elif source is None:
                source = where
            elif where != source:
                other = where
        elif type(value) in {list, tuple}:
            source, other = _scan(value, source, other)
    return source, other


def mismatch(source: int, other: int) -> RuntimeError:
    """Return torch's error for operands on two devices."""
    found = "cpu" if other in {HOST, NUMBER} else f"cuda:{other}"
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"cuda:{source} and {found}!"
    )
