"""What classes inherit from ``nn.Module``: parameters and buffers go where their module goes, the GPU."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.storing import store_attribute
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.table.results import together
from syncscan.check.infer.values.basic import STRING, TENSOR, list_of, refine, sequence
from syncscan.model import UNKNOWN, Confidence, Device, Kind, Value

MODULE_METHODS = frozenset(
    {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "parameters", "buffers",
     "named_parameters", "named_buffers", "register_buffer", "register_parameter", "state_dict", "modules", "children",
     "__call__", "_apply", "apply", "requires_grad_"}
)  # fmt: skip
_RETURN_THE_MODULE = frozenset(
    {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "_apply", "apply", "requires_grad_"}
)


def module_method(frame: Frame, base: Value, name: str, call: Call) -> Value:
    """Call a method that a class of the project inherits from ``nn.Module``."""
    if name == "register_buffer":
        _register_buffer(frame, base, call)
        return UNKNOWN
    if name in {"parameters", "buffers"}:
        return list_of(_some_parameter(frame, call))
    if name in {"named_parameters", "named_buffers"}:
        return list_of(sequence([STRING, _some_parameter(frame, call)], Kind.TUPLE))
    if name == "__call__":
        return together(call.args) if any(map(may_be_tensor, call.args)) else UNKNOWN
    return base if name in _RETURN_THE_MODULE else UNKNOWN


def _register_buffer(frame: Frame, base: Value, call: Call) -> None:
    name = call.first.payload
    if len(call.args) > 1 and isinstance(name, str) and isinstance(base.payload, Class):
        value = module_tensor(frame, call.args[1], call.node, f"buffer `{name}` moves with its module")
        store_attribute(frame, base.payload, name, value, call.node)


def _some_parameter(frame: Frame, call: Call) -> Value:
    return module_tensor(frame, TENSOR, call.node, "parameters move with their module")


def module_tensor(frame: Frame, value: Value, node: ast.expr, text: str) -> Value:
    """A parameter or buffer: it goes where its module goes, and that is the GPU."""
    if value.kind is not Kind.TENSOR or value.device is Device.CUDA:
        return value
    if not frame.assume():
        return refine(value, device=Device.UNKNOWN, pinned=None)
    evidence = frame.evidence(node, text)
    return refine(value, device=Device.CUDA, confidence=Confidence.INFERRED, pinned=None, evidence=evidence)


def may_be_tensor(value: Value) -> bool:
    """Whether a value is a tensor, or holds one."""
    if value.kind in {Kind.LIST, Kind.TUPLE, Kind.UNION}:
        inside = [*(value.items or ()), *([value.element] if value.element else [])]
        return any(map(may_be_tensor, inside))
    return value.kind is Kind.TENSOR
