"""How a copy to the GPU gets its source from pinned memory, where that can raise no error that the copy did not.

Pinning needs CUDA, takes no array (`torch.tensor(array, pin_memory=True)`), and no tensor whose elements share memory, such
as an expanded one. `tests/rules/tried` tries all of it.
"""

from __future__ import annotations

import libcst as cst

from syncscan.model import Kind, Value
from syncscan.rule import Facts

from ._shared import TRUE, method_call, set_argument, unpacks

_FRESH = frozenset(
    {"torch.Tensor.clone", "torch.Tensor.contiguous", "torch.cat", "torch.stack"}
)  # what they make is dense
_DECIDES_THE_PLACE = {"device", "pin_memory", "out", "layout"}


def is_surely_gpu(device: cst.BaseExpression, facts: Facts) -> bool:
    """Whether a device is written out as a GPU, so that no run gets there without CUDA; a variable may name the CPU in another one."""
    if isinstance(device, cst.Call) and facts.name_of(device.func) == "torch.device" and device.args:
        device = device.args[0].value
    if isinstance(device, cst.SimpleString):
        return str(device.evaluated_value).partition(":")[0] == "cuda"
    return isinstance(device, cst.Integer)


def pinned(source: cst.BaseExpression, facts: Facts, *, has_cuda: bool) -> cst.Call | None:
    """The source in pinned memory where CUDA is there, as it surely is where ``has_cuda``; None where that might raise an error."""
    if isinstance(source, cst.Call):
        name = facts.name_of(source.func)
        reads_data = name == "torch.tensor" and _is_plain(facts.argument(source, "data"), facts)
        if reads_data and not _decides_the_place(source):
            flag = TRUE if has_cuda else cuda_is_there(source)
            return set_argument(source, "pin_memory", flag) if flag is not None else None
    return method_call(source, "pin_memory") if has_cuda and _is_dense(source, facts) else None


def with_pinned_source(call: cst.Call, source: cst.BaseExpression, facts: Facts) -> cst.Call | None:
    """A copy to the GPU, from pinned memory; None where pinning might raise an error that the copy did not."""
    name = facts.name_of(call.func)
    target = facts.argument(call, "input" if name.endswith(".copy_") else "device")
    has_cuda = name.endswith(".cuda") or (target is not None and is_surely_gpu(target, facts))
    from_pinned = pinned(source, facts, has_cuda=has_cuda)
    return cst.ensure_type(call.deep_replace(source, from_pinned), cst.Call) if from_pinned else None


def _decides_the_place(call: cst.Call) -> bool:
    return unpacks(call) or not _DECIDES_THE_PLACE.isdisjoint(
        argument.keyword.value for argument in call.args if argument.keyword is not None
    )


def cuda_is_there(call: cst.Call) -> cst.Call | None:
    """``torch.cuda.is_available()``, by the name under which a call of a function of torch has torch."""
    if not isinstance(call.func, cst.Attribute):
        return None
    return cst.Call(cst.Attribute(cst.Attribute(call.func.value, cst.Name("cuda")), cst.Name("is_available")))


def is_plain_data(value: Value) -> bool:
    """Whether `torch.tensor` reads a value element by element, and can pin what it makes of it: a number, a list, a tuple."""
    return bool(value.options) and all(
        option.kind in {Kind.NUMBER, Kind.LIST, Kind.TUPLE} for option in value.options
    )


def _is_plain(data: cst.BaseExpression | None, facts: Facts) -> bool:
    return data is not None and is_plain_data(facts.of(data))


def _is_dense(source: cst.BaseExpression, facts: Facts) -> bool:
    """Whether an expression surely makes a tensor whose elements have memory each of its own."""
    if isinstance(source, (cst.BinaryOperation, cst.UnaryOperation)):
        return facts.of(source).is_cpu_tensor
    if not isinstance(source, cst.Call) or not facts.of(source).is_cpu_tensor:
        return False
    return facts.name_of(source.func) in _FRESH | {"torch.tensor"}
