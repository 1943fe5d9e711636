"""Methods of what is neither a container nor an array: objects of the project, modules, unions."""

from __future__ import annotations

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.registry import CALLABLES, METHODS, register
from syncscan.check.infer.evaluators.functions import call_overrides
from syncscan.check.infer.evaluators.modules import MODULE_METHODS, module_method
from syncscan.check.infer.evaluators.numpy_calls import ARRAY_METHODS
from syncscan.check.infer.evaluators.terms import of_table
from syncscan.check.infer.evaluators.torch_calls import torch_object
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.values.basic import record
from syncscan.check.infer.values.lattice import join_all
from syncscan.model import UNKNOWN, Kind, Value

_PYTHON_TYPES: dict[Kind, type] = {
    Kind.LIST: list,
    Kind.TUPLE: tuple,
    Kind.DICT: dict,
    Kind.SET: set,
    Kind.STRING: str,
    Kind.NUMBER: float,
}


@register(METHODS, Kind.UNION)
def _of_any(frame: Frame, base: Value, name: str, call: Call) -> Value:
    options = [option for option in base.options if _may_have(option, name)]
    if any(_defines(frame, option, name) for option in options) and not _is_of_tensors(frame, name):
        options = [option for option in options if option.kind is not Kind.TENSOR]
    with frame.unsure(unsure=not all(option.is_gpu for option in options)):
        return join_all(frame.call_method(option, name, call) for option in options)


def _defines(frame: Frame, value: Value, name: str) -> bool:
    """Whether a value is an object of the project that has a method of its own."""
    cls = value.payload if value.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class):
        return False
    frame.asks(cls, name)
    return cls.find_method(name) is not None


def _is_of_tensors(frame: Frame, name: str) -> bool:
    """Whether the table knows a method of tensors of this name."""
    return frame.context.table.find(f"torch.Tensor.{name}") is not None


def _may_have(value: Value, name: str) -> bool:
    """Whether a value may have a method: a list or an array has no ``cpu``. A NumPy number is like an array."""
    if value.kind is Kind.NDARRAY:
        return name in ARRAY_METHODS
    known = _PYTHON_TYPES.get(value.kind)
    return known is None or hasattr(known, name) or (known is float and name in {"item", "tolist", "astype"})


@register(METHODS, Kind.CLASS)
def _of_class(frame: Frame, base: Value, name: str, call: Call) -> Value:
    return frame.call(frame.attribute(base, name, call.node), call)


@register(METHODS, Kind.MODULE)
def _of_module(frame: Frame, base: Value, name: str, call: Call) -> Value:
    if isinstance(base.payload, str):
        return frame.call_outside(f"{base.payload}.{name}", call)
    return frame.call(frame.attribute(base, name, call.node), call)


@register(CALLABLES, Kind.MODULE)
def _call_outside(frame: Frame, callee: Value, call: Call) -> Value:
    return frame.call_outside(callee.payload, call) if isinstance(callee.payload, str) else UNKNOWN


@register(CALLABLES, Kind.INSTANCE)
def _call_object(frame: Frame, callee: Value, call: Call) -> Value:
    return frame.call_method(callee, "__call__", call)


@register(METHODS, Kind.INSTANCE)
def _of_object(frame: Frame, base: Value, name: str, call: Call) -> Value:
    cls = base.payload
    if not isinstance(cls, Class):
        return torch_object(frame, base, name, call)
    frame.asks(cls, name)
    methods, called = cls.overrides(name), name
    if not methods and name == "__call__":
        frame.asks(cls, "forward")
        methods, called = cls.overrides("forward"), "forward"
    if methods and not methods[0].is_property:
        return call_overrides(frame, base, cls, called, call)
    if cls.is_module and name in MODULE_METHODS:
        return module_method(frame, base, name, call)
    if name == "_replace":
        return _replaced(frame, base, cls, call)
    if name == "get" and (item := of_table(frame, base, call.first, call.node)) is not None:
        return join_all([item, *call.args[1:]])
    stored = frame.attribute(base, name, call.node)
    if name == "__call__" and any(option.kind is Kind.INSTANCE for option in stored.options):
        return UNKNOWN  # an object that is called by calling an object, which may be the same one
    return frame.call(stored, call)


def _replaced(frame: Frame, base: Value, cls: Class, call: Call) -> Value:
    """A named tuple with other values in some of its fields."""
    if base.items is None:
        return base
    fields = frame.fields(cls)
    known = dict(zip(fields, base.items, strict=True)) | dict(call.kwargs)
    return record(cls, (known[name] for name in fields))
