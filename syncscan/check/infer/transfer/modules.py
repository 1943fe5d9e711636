"""What classes inherit from ``nn.Module``: parameters and buffers go where their module goes, the GPU."""

from __future__ import annotations

from syncscan.check.infer.domain.basic import STRING, TENSOR, list_of, sequence
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.operands import together
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import store_attribute
from syncscan.model import Confidence, Device, Kind

MODULE_METHODS = frozenset(
    {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "parameters", "buffers",
     "named_parameters", "named_buffers", "register_buffer", "register_parameter", "state_dict", "modules", "children",
     "__call__", "_apply", "apply", "requires_grad_"}
)  # fmt: skip
_RETURN_THE_MODULE = frozenset(
    {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "_apply", "apply", "requires_grad_"}
)


def module_method(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Call a method that a class of the project inherits from ``nn.Module``."""
    if name in _REGISTER:
        _register(at, base, call, _REGISTER[name])
        return BOTTOM
    if name in {"parameters", "buffers"}:
        return list_of(_some_parameter(at, call))
    if name in {"named_parameters", "named_buffers"}:
        return list_of(sequence([STRING, _some_parameter(at, call)], Kind.TUPLE))
    if name == "__call__":
        return together(at, call.args) if any(map(may_be_tensor, call.args)) else BOTTOM
    return base if name in _RETURN_THE_MODULE else BOTTOM


_REGISTER = {"register_buffer": "buffer", "register_parameter": "parameter"}


def _register(at: Point, base: AbstractValue, call: Call, sort: str) -> None:
    name = call.first.payload
    if len(call.args) > 1 and isinstance(name, str) and isinstance(base.payload, Class):
        value = module_tensor(at, call.args[1], f"{sort} `{name}` moves with its module")
        store_attribute(at, base.payload, name, value)


def _some_parameter(at: Point, call: Call) -> AbstractValue:
    return module_tensor(at, TENSOR, "parameters move with their module")


def module_tensor(at: Point, value: AbstractValue, text: str) -> AbstractValue:
    """Return a parameter or buffer: it goes where its module goes, and that is the GPU."""
    if value.kind is not Kind.TENSOR or value.device is Device.CUDA:
        return value
    if value.device is Device.MIXED:
        return refine(value, device=Device.CUDA, pinned=None)
    if not at.assume():
        return refine(value, device=Device.UNKNOWN, pinned=None)
    at.origin(text)
    return refine(value, device=Device.CUDA, confidence=Confidence.INFERRED, pinned=None)


def may_be_tensor(value: AbstractValue) -> bool:
    """Whether a value is a tensor, or holds one."""
    if value.kind in {Kind.LIST, Kind.TUPLE, Kind.UNION}:
        inside = [*(value.items or ()), *([value.element] if value.element else [])]
        return any(map(may_be_tensor, inside))
    return value.kind is Kind.TENSOR
