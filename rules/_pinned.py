"""Copies to the GPU from pinned memory, where pinning raises no error that the copy did not.

Pinning needs CUDA. Pinning fails for an array (`torch.tensor(array, pin_memory=True)`), and for a tensor whose elements
share memory, such as an expanded one. `tests/rules/tried` tries all of it.
"""

from __future__ import annotations

import ast

from syncscan.model import Kind
from syncscan.rule import Facts

from ._code import CallCode, method_call
from ._parts import is_path
from ._shared import given, keywords_of, unpacks

_FRESH = frozenset(
    {"torch.Tensor.clone", "torch.Tensor.contiguous", "torch.cat", "torch.stack"}
)  # functions with dense results
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PLAIN = frozenset({Kind.NUMBER, Kind.LIST, Kind.TUPLE})
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


def pinned(source: ast.expr, facts: Facts, *, has_cuda: bool, target: ast.expr | None = None) -> str | None:
    """Return the source in pinned memory if CUDA is available, as ``has_cuda`` ensures; None where pinning may fail.

    ``target`` is the device, or a tensor, to whose device the source is copied.
    """
    if isinstance(source, ast.Call):
        name = facts.name_of(source.func)
        data = facts.argument(source, "data")
        reads_data = name == "torch.tensor" and data is not None and is_plain_data(data, facts)
        if reads_data and not _decides_the_place(source):
            flag = "True" if has_cuda else cuda_check(source, target, facts)
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
    from_pinned = pinned(source, facts, has_cuda=has_cuda, target=target)
    return CallCode(call, facts).edited(source, from_pinned) if from_pinned is not None else None


def _decides_the_place(call: ast.Call) -> bool:
    return unpacks(call) or not _DECIDES_THE_PLACE.isdisjoint(keywords_of(call))


def cuda_check(call: ast.Call, target: ast.expr | None, facts: Facts) -> str | None:
    """Return the test under which a call pins its source: ``x.is_cuda`` for the device of a tensor, else ``torch.cuda.is_available()``.

    On a machine with a GPU, a tensor on the CPU then takes no part of CUDA, which a forked process could not use. ``torch`` has the
    name that the call gives it.
    """
    like = target.value if isinstance(target, ast.Attribute) and target.attr == "device" else target
    if like is not None and is_path(like) and facts.of(like).kind is Kind.TENSOR:
        return f"{facts.source(like)}.is_cuda"
    if not isinstance(call.func, ast.Attribute):
        return None
    return f"{facts.source(call.func.value)}.cuda.is_available()"


def is_plain_data(data: ast.expr, facts: Facts) -> bool:
    """Return whether `torch.tensor` reads data element by element, and can pin the result: a number, a list, a tuple.

    The function itself has to make them. Others may pass an array for what the annotation of a parameter calls a list, and pinning
    fails for arrays and tensors.
    """
    options = facts.of(data).options
    are_plain = bool(options) and all(each.kind in _PLAIN for each in options)
    return are_plain and not _is_passed(data, facts)


def _is_passed(data: ast.expr, facts: Facts) -> bool:
    """Return whether data are those of a parameter, or a part of one, unless the function has bound its name anew."""
    while isinstance(data, (ast.Attribute, ast.Subscript)):
        data = data.value
    function = next((each for each in facts.around(data).up(data) if isinstance(each, _FUNCTIONS)), None)
    if function is None or not isinstance(data, ast.Name):
        return False
    taken, body = function.args, [] if isinstance(function, ast.Lambda) else function.body
    above = [each for each in body if isinstance(each, ast.Assign) and each.lineno < data.lineno]
    is_bound_anew = any(
        isinstance(name, ast.Name) and name.id == data.id for each in above for name in each.targets
    )
    parameters = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)
    return not is_bound_anew and any(each.arg == data.id for each in parameters)


def _is_dense(source: ast.expr, facts: Facts) -> bool:
    """Return whether an expression surely creates a tensor whose elements share no memory."""
    if isinstance(source, (ast.BinOp, ast.UnaryOp)):
        return facts.of(source).is_cpu_tensor
    if not isinstance(source, ast.Call) or not facts.of(source).is_cpu_tensor:
        return False
    return facts.name_of(source.func) in _FRESH | {"torch.tensor"}
