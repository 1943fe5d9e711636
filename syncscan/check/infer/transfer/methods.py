"""Method calls on objects of the project, modules and unions."""

from __future__ import annotations

from collections.abc import Iterator

from syncscan.check.infer.domain.basic import record
from syncscan.check.infer.domain.callables import BoundMethod
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, fact, refine
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.transfer.attributes import held_by, stored_in
from syncscan.check.infer.transfer.autograd import keep
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.containers import has_method
from syncscan.check.infer.transfer.distributions import check_parameters, is_plain_distribution
from syncscan.check.infer.transfer.functions import call_overrides
from syncscan.check.infer.transfer.modules import (
    MODULE_METHODS,
    given_by_part,
    is_layer,
    module_method,
    register_tensor,
)
from syncscan.check.infer.transfer.numpy_calls import ARRAY_METHODS
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import CALLABLES, METHODS, register
from syncscan.check.infer.transfer.storing import store_attribute
from syncscan.check.infer.transfer.torch_calls import torch_object
from syncscan.check.infer.transfer.typed_dicts import of_table
from syncscan.model import Device, Kind

_OF_ITS_NUMBERS = frozenset({"item", "tolist", "astype"})


@register(METHODS, Kind.UNION)
def _of_any(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    options = [option for option in base.options if _may_have(option, name)]
    if any(_defines(at, option, name) for option in options) and not _is_of_tensors(at, name):
        options = [option for option in options if option.kind is not Kind.TENSOR]
    if all(option.is_gpu for option in options):
        return join_all(at.call_method(option, name, call) for option in options)
    results = []
    with at.hearing() as heard:
        for option in options:
            results.append(at.call_method(option, name, call))
            if not _is_of_python(option):
                heard.next()
    return join_all(results)


def _is_of_python(value: AbstractValue) -> bool:
    """Return whether a value is one of Python's numbers, which have no method of a tensor; no dtype is known of NumPy's."""
    return value.kind is Kind.NUMBER and fact(value, "dtype") is not None


def _defines(at: Point, value: AbstractValue, name: str) -> bool:
    """Return whether a value is an object whose class defines a method of this name; a subclass of torch's modules may."""
    if value.kind is not Kind.INSTANCE:
        return False
    cls = value.payload
    if not isinstance(cls, Class):
        return is_layer(value)
    at.asks(cls, name)
    return cls.find_method(name) is not None


def _is_of_tensors(at: Point, name: str) -> bool:
    """Return whether the operation table has a tensor method of this name."""
    return at.context.table.find(f"torch.Tensor.{name}") is not None


def _may_have(value: AbstractValue, name: str) -> bool:
    """Return whether a value may have a method; a list or an array has no ``cpu``. NumPy numbers count as arrays."""
    if value.kind is Kind.NDARRAY:
        return name in ARRAY_METHODS
    if value.kind is Kind.CLASS and isinstance(value.payload, Class):
        return bool(value.payload.overrides(name) or value.payload.external_bases)
    return has_method(value.kind, name) or (value.kind is Kind.NUMBER and name in _OF_ITS_NUMBERS)


@register(METHODS, Kind.CLASS)
def _of_class(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    return at.call(at.attribute(base, name), call)


@register(METHODS, Kind.MODULE)
def _of_module(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    if isinstance(base.payload, str):
        itself = call.first.payload
        if name == "__init__" and isinstance(itself, Class) and is_known_base(at, base.payload):
            own = Call(call.args[1:], call.kwargs, call.site, call.slots[1:], call.is_open_ended)
            return made_by_base(at, itself, base.payload, own)
        return at.call_outside(f"{base.payload}.{name}", call)
    return at.call(at.attribute(base, name), call)


def is_known_base(at: Point, outside: str) -> bool:
    """Return whether the constructor of an external class is known: it has a stub, or checks the attributes of the object."""
    return at.context.stub(outside) is not None or is_plain_distribution(outside)


def made_by_base(at: Point, cls: Class, outside: str, call: Call) -> AbstractValue:
    """Return what the initialiser of a stubbed base class makes, and store the tensors that it holds for an object."""
    if is_plain_distribution(outside):
        return check_parameters(at, cls, call)
    made = at.call_outside(outside, call)
    stub = at.context.stub(outside)
    if stub is not None and made.device is not Device.UNKNOWN:
        for name in stub.operation.args:
            store_attribute(at, cls, name.lstrip("*"), held_by(at, made, name))
    return made


@register(CALLABLES, Kind.MODULE)
def _call_outside(at: Point, callee: AbstractValue, call: Call) -> AbstractValue:
    return at.call_outside(callee.payload, call) if isinstance(callee.payload, str) else BOTTOM


@register(CALLABLES, Kind.INSTANCE)
def _call_object(at: Point, callee: AbstractValue, call: Call) -> AbstractValue:
    return at.call_method(callee, "__call__", call)


@register(METHODS, Kind.INSTANCE)
def _of_object(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    cls = base.payload
    if not isinstance(cls, Class):
        return torch_object(at, base, name, call)
    at.asks(cls, name)
    methods, called = cls.overrides(name), name
    if not methods and name == "__call__":
        at.asks(cls, "forward")
        methods, called = cls.overrides("forward"), "forward"
    if methods and not methods[0].is_property:
        if cls.is_module:
            register_tensor(at, base, name, call)
        result = call_overrides(at, base, cls, called, call)
        return join_all([result, *_of_stored(at, cls, called, call)])
    if cls.is_module and name in MODULE_METHODS:
        return module_method(at, base, name, call)
    if name == "_replace":
        return _replaced(at, base, cls, call)
    if name == "get" and (item := of_table(at, base, call.first)) is not None:
        return join_all([item, *call.args[1:]])
    return _of_no_method(at, base, name, call)


def _of_stored(at: Point, cls: Class, name: str, call: Call) -> Iterator[AbstractValue]:
    """Yield the results of functions that objects store in place of a method: ``self.step = self.step_on_graphs``."""
    if not any(name in base.stored for base in cls.mro()):
        return
    for option in stored_in(at, cls, name).options:
        bound = option.payload
        if isinstance(bound, Function):
            yield at.call(option, call)
        elif isinstance(bound, BoundMethod) and isinstance(bound.function, Function):
            method, owner = bound.function.name, bound.receiver.payload
            if isinstance(owner, Class) and (method != name or owner not in cls.mro()):
                yield call_overrides(at, bound.receiver, owner, method, call)


def _of_no_method(at: Point, base: AbstractValue, name: str, call: Call) -> AbstractValue:
    """Return the result of calling an object's member that is no method of its class."""
    cls: Class = base.payload
    if keep(at, cls, name, call):
        return BOTTOM
    if (outside := inherited(at, cls, name)) is not None:
        return at.call_outside(outside, call.on(_as_its_base(at, base, outside)))
    stored = at.attribute(base, name)
    if name == "__call__" and any(option.kind is Kind.INSTANCE for option in stored.options):
        return BOTTOM  # an object that is called by calling an object, which may be the same one
    if stored is BOTTOM and cls.is_module:
        return given_by_part(at, call)
    return at.call(stored, call)


def inherited(at: Point, cls: Class, name: str) -> str | None:
    """Return the full name of an external base's method that a stub or the table knows, or None."""
    names = (f"{outside}.{name}" for each in cls.mro() for outside in each.external_bases)
    return next(filter(at.context.knows, names), None)


def _as_its_base(at: Point, base: AbstractValue, method: str) -> AbstractValue:
    """Return an object as an instance of its external base class, on the device of the tensors passed to its constructor."""
    stub = at.context.stub(method.rpartition(".")[0])
    if stub is None or not stub.items:
        return base
    for name in stub.operation.args:
        held = at.attribute(base, name.lstrip("*"))
        if held.kind is Kind.TENSOR and held.device is not Device.UNKNOWN:
            return refine(base, device=held.device, confidence=held.confidence, via=held.via)
    return base


def _replaced(at: Point, base: AbstractValue, cls: Class, call: Call) -> AbstractValue:
    """Return a named tuple with some fields replaced."""
    if base.items is None:
        return base
    fields = at.fields(cls)
    known = dict(zip(fields, base.items, strict=True)) | dict(call.kwargs)
    return record(cls, (known[name] for name in fields))
