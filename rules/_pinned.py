"""Copies to the GPU from pinned memory, where pinning raises no error that the copy did not.

Pinning needs CUDA. Pinning fails for an array (`torch.tensor(array, pin_memory=True)`), and for a tensor whose elements
share memory, such as an expanded one. `tests/rules/tried` tries all of it.
"""

from __future__ import annotations

import ast

from syncscan.model import Kind, Value
from syncscan.rule import Facts

from ._code import CallCode, method_call
from ._shared import given, keywords_of, unpacks

_FRESH = frozenset(
    {"torch.Tensor.clone", "torch.Tensor.contiguous", "torch.cat", "torch.stack"}
)  # functions with dense results
_DECIDES_THE_PLACE = {"device", "pin_memory", "out", "layout"}


def is_surely_gpu(device: ast.expr, facts: Facts) -> bool:
    """Return whether a device is a literal GPU; a variable may name the CPU in another run."""
    if isinstance(device, ast.Call) and facts.name_of(device.func) == "torch.device":
        device = next(iter(given(device)), device)
    if not isinstance(device, ast.Constant):
        return False
    if isinstance(device.value, str):
        return device.value.partition(":")[0] == "cuda"
    return isinstance(device.value, int) and not isinstance(device.value, bool)


def pinned(source: ast.expr, facts: Facts, *, has_cuda: bool) -> str | None:
    """Return the source in pinned memory if CUDA is available, as ``has_cuda`` ensures; None where pinning may fail."""
    if isinstance(source, ast.Call):
        name = facts.name_of(source.func)
        reads_data = name == "torch.tensor" and _is_plain(facts.argument(source, "data"), facts)
        if reads_data and not _decides_the_place(source):
            flag = "True" if has_cuda else cuda_check(source, facts)
            if flag is None:
                return None
            on_host = CallCode(source, facts).with_argument(
                "device", '"cpu"'
            )  # whatever the default device is
            return on_host.with_argument("pin_memory", flag).whole()
    return method_call(source, "pin_memory", facts=facts) if has_cuda and _is_dense(source, facts) else None


def with_pinned_source(call: ast.Call, source: ast.expr, facts: Facts) -> CallCode | None:
    """Return a copy to the GPU from pinned memory; None where pinning might raise an error that the copy did not."""
    name = facts.name_of(call.func)
    target = facts.argument(call, "input" if name.endswith(".copy_") else "device")
    has_cuda = name.endswith(".cuda") or (target is not None and is_surely_gpu(target, facts))
    from_pinned = pinned(source, facts, has_cuda=has_cuda)
    return CallCode(call, facts).edited(source, from_pinned) if from_pinned is not None else None


def _decides_the_place(call: ast.Call) -> bool:
    return unpacks(call) or not _DECIDES_THE_PLACE.isdisjoint(keywords_of(call))


def cuda_check(call: ast.Call, facts: Facts) -> str | None:
    """Return ``torch.cuda.is_available()``, under the name that a call of a torch function has for torch."""
    if not isinstance(call.func, ast.Attribute):
        return None
    return f"{facts.source(call.func.value)}.cuda.is_available()"


def is_plain_data(value: Value) -> bool:
    """Return whether `torch.tensor` reads a value element by element, and can pin the result: a number, a list, a tuple."""
    return bool(value.options) and all(
        option.kind in {Kind.NUMBER, Kind.LIST, Kind.TUPLE} for option in value.options
    )


def _is_plain(data: ast.expr | None, facts: Facts) -> bool:
    return data is not None and is_plain_data(facts.of(data))


def _is_dense(source: ast.expr, facts: Facts) -> bool:
    """Return whether an expression surely creates a tensor whose elements share no memory."""
    if isinstance(source, (ast.BinOp, ast.UnaryOp)):
        return facts.of(source).is_cpu_tensor
    if not isinstance(source, ast.Call) or not facts.of(source).is_cpu_tensor:
        return False
    return facts.name_of(source.func) in _FRESH | {"torch.tensor"}
