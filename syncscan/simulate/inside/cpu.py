"""Execution of GPU operations on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .errors import SimulationError

_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_is_excluded = torch._C._dispatch_tls_is_dispatch_key_excluded
_exclude = torch._C._dispatch_tls_set_dispatch_key_excluded
_LAZY = (torch._C.DispatchKey.Conjugate, torch._C.DispatchKey.Negative, torch._C.DispatchKey.ZeroTensor)
_NO_DTYPE = "not implemented for '"  # followed by the dtype; other messages are about layouts
# GPU kernels accept more dtypes than CPU kernels; the CPU computes in these wider ones instead.
_WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.uint8: torch.float64,
    torch.int8: torch.float64,
    torch.int16: torch.float64,
    torch.int32: torch.float64,
    torch.int64: torch.float64,
}


class SeeingConjugates:
    """A context in which a composite kernel sees lazy conjugate, negative and zero tensors as such.

    Torch excludes the dispatch keys of lazy tensors inside an active dispatch mode. A kernel such as
    ``linalg.pinv`` then takes a lazy conjugate for its base tensor.
    """

    __slots__ = ("_excluded",)

    def __enter__(self) -> None:
        self._excluded = [key for key in _LAZY if _is_excluded(key)]
        for key in self._excluded:
            _exclude(key, False)

    def __exit__(self, *_: object) -> None:
        for key in self._excluded:
            _exclude(key, True)


def run_on_cpu(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Call an operation; raise SimulationError with its name where the CPU has no kernel for the operation or the dtype."""
    try:
        return function(*args, **kwargs)
    except RecursionError:  # says nothing of the CPU
        raise
    except RuntimeError as error:
        return run_otherwise(function, args, kwargs, error)


def run_otherwise(function: Any, args: Any, kwargs: Mapping[str, Any], error: RuntimeError) -> Any:
    """Call an operation in a wider dtype after the CPU refused its dtype; raise as `run_on_cpu` for other refusals."""
    if _NO_DTYPE in str(error):  # before torch 2.9 not a NotImplementedError
        return _run_wider(function, args, kwargs, error)
    if isinstance(error, NotImplementedError):
        raise MissingKernelError(function) from error
    if "not implemented on the CPU" in str(error):
        raise MissingKernelError(function, for_any_call=False) from error
    raise error


def _run_wider(function: Any, args: Any, kwargs: Mapping[str, Any], error: Exception) -> Any:
    """Compute in a wider dtype, and convert the result to the dtype of the first operand; never in place."""
    first = next((value for value in args if isinstance(value, torch.Tensor)), None)
    if first is None or first.dtype not in _WIDER or _writes(function):
        raise _missing_dtype(function, error) from error
    try:
        result = function(*map(_widened, args), **{name: _widened(value) for name, value in kwargs.items()})
    except RecursionError:
        raise
    except RuntimeError:
        raise _missing_dtype(function, error) from error
    return _narrowed(result, _WIDER[first.dtype], first.dtype)


def _writes(function: Any) -> bool:
    name = getattr(function, "_opname", getattr(function, "__name__", ""))
    return bool(name.endswith("_"))


def _widened(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.Tensor.to(value, _WIDER.get(value.dtype, value.dtype))
    return [_widened(item) for item in value] if isinstance(value, list) else value


def _narrowed(result: Any, wide: torch.dtype, narrow: torch.dtype) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(_narrowed(item, wide, narrow) for item in result)
    if isinstance(result, torch.Tensor) and result.dtype == wide:
        return torch.Tensor.to(result, narrow)
    return result


def casts_on_gpu_alone(function: Any) -> bool:
    """Return whether a custom operation has an autocast kernel for CUDA, and none for the CPU."""
    name = getattr(function, "_qualified_op_name", None) or str(getattr(function, "_name", ""))
    return (
        "::" in name
        and not name.startswith("aten::")
        and _has_kernel(name, "AutocastCUDA")
        and not _has_kernel(name, "AutocastCPU")
    )


def no_cast(function: Any) -> SimulationError:
    """Return the error for a call of such an operation under autocast."""
    return SimulationError(
        f"{function} cannot be simulated under torch.autocast: it has a kernel for that on the GPU and none on the CPU"
    )


class MissingKernelError(SimulationError):
    """An operation has a GPU kernel and no CPU kernel, for all calls or for some arguments."""

    def __init__(self, function: Any, *, for_any_call: bool = True) -> None:
        self.for_any_call = for_any_call
        super().__init__(
            f"{_named(function)} cannot be simulated: it has a kernel for the GPU and none for the CPU"
        )


def _missing_dtype(function: Any, error: Exception) -> SimulationError:
    """Return the error for a dtype that the CPU kernel refuses, and that the GPU may accept or refuse."""
    return SimulationError(
        f"{_named(function)} cannot be simulated: its kernel for the CPU refuses the dtype ({error})"
    )


def _named(function: Any) -> str:
    return str(function) if hasattr(function, "_schema") else getattr(function, "__name__", str(function))
