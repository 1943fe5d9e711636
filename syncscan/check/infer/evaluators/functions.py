"""Calls of what the project defines: its functions, its classes, and what ``partial`` makes of them."""

from __future__ import annotations

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import named
from syncscan.check.infer.evaluate.registry import CALLABLES, register
from syncscan.check.infer.evaluate.storing import news, store_attribute, tell
from syncscan.check.infer.source.index import Class, Function, Parameter
from syncscan.check.infer.table.conditions import device_named
from syncscan.check.infer.values.callables import BoundMethod, Partial
from syncscan.check.infer.values.lattice import join_all
from syncscan.check.infer.values.passing import evidence_in, moved, parts_of
from syncscan.model import UNKNOWN, Device, Kind, Value

Passed = list[tuple[Parameter, Value]]


@register(CALLABLES, Kind.UNION)
def _call_any(frame: Frame, callee: Value, call: Call) -> Value:
    with frame.unsure():
        return join_all(frame.call(option, call) for option in callee.options)


@register(CALLABLES, Kind.FUNCTION)
def _call_function(frame: Frame, callee: Value, call: Call) -> Value:
    payload = callee.payload
    if isinstance(payload, Function):
        return call_function(frame, payload, call)
    if isinstance(payload, BoundMethod):
        return _call_bound(frame, payload, call)
    if isinstance(payload, Partial):
        kwargs = {**dict(payload.kwargs), **call.kwargs}
        return frame.call(payload.callee, Call((*payload.args, *call.args), kwargs, call.node))
    return UNKNOWN


def _call_bound(frame: Frame, method: BoundMethod, call: Call) -> Value:
    receiver, function = method.receiver, method.function
    assert isinstance(function, Function)
    if receiver.kind is Kind.INSTANCE:
        return frame.call_method(receiver, function.name, call)
    return call_function(frame, function, call.on(receiver))


def call_function(frame: Frame, function: Function, call: Call) -> Value:
    """Pass arguments to a function of the project, and take what it is known to return."""
    frame.outcome.callees[function] = None
    passed = bind(function, call)
    pass_arguments(frame, function, passed, call)
    value = frame.read(frame.context.known.returns[function])
    declared = getattr(function.node, "returns", None)
    if declared is not None and (value.kind is Kind.UNKNOWN or value.kind is Kind.NONE):
        value = frame.context.annotations.read(declared, function.module, function)
    if isinstance(value.payload, Class) and value.kind is Kind.INSTANCE:
        value = _self_type(function, value, call)
    value = _where_given(frame, function, value, passed)
    if value.kind is Kind.TENSOR and value.device is Device.UNKNOWN:
        return named(frame, value, function.name)
    return value


def _where_given(frame: Frame, function: Function, value: Value, passed: Passed) -> Value:
    """What a function returns that works where its arguments live, to a caller that passes these."""
    if not any(True for _ in evidence_in(value)):
        return value
    placing = frame.read(frame.context.known.placing[function])
    if not placing or "" in placing:
        return value
    given = [(parameter, argument) for parameter, argument in passed if parameter.name in placing]
    places = {place for _, argument in given for part in parts_of(argument) for place in _place_of(part)}
    if not places or places & {Device.CUDA, Device.MIXED}:
        return value
    if places == {Device.CPU}:
        return moved(value, Device.CPU)
    if frame.assume() and any(_is_open(frame, parameter) for parameter, _ in given):
        return value
    return moved(value, Device.UNKNOWN)


def _is_open(frame: Frame, parameter: Parameter) -> bool:
    """Whether it is a device that only the run decides, or a tensor that nobody is seen to place."""
    known = frame.read(frame.context.known.parameters[parameter])
    return "device" in parameter.name or not any(evidence_in(known))


def _place_of(value: Value) -> set[Device]:
    """The place that an argument names or has; nothing if it has none."""
    if value.kind in {Kind.NUMBER, Kind.NONE}:
        return set()
    if value.kind is Kind.NDARRAY:
        return {Device.CPU}
    if value.kind is Kind.STRING:
        name = str(value.payload).partition(":")[0]
        return {{"cuda": Device.CUDA, "cpu": Device.CPU}.get(name, Device.UNKNOWN)}
    return {value.device}


def _self_type(function: Function, value: Value, call: Call) -> Value:
    """A method that returns its own object returns one of the caller's class."""
    receiver = call.first
    if function.owner is not value.payload or receiver.kind is not Kind.INSTANCE:
        return value
    cls = receiver.payload
    return receiver if isinstance(cls, Class) and value.payload in cls.mro() else value


def bind(function: Function, call: Call) -> Passed:
    """The parameters that a call fills, each with its argument; several times where it takes several."""
    passed: Passed = [*zip(function.plain, call.args, strict=False)]
    if function.rest is not None:
        passed += [(function.rest, value) for value in call.args[len(function.plain) :]]
    for name, value in call.kwargs.items():
        target = function.by_name.get(name, function.more)
        if target is not None:
            passed.append((target, value))
    return passed


def pass_arguments(frame: Frame, function: Function, passed: Passed, call: Call) -> None:
    """Tell a function what is passed to its parameters."""
    if not frame.may_tell(function.module):
        return
    cells = frame.context.known.parameters
    for parameter, value in passed:
        cell = cells[parameter]
        new = news(frame, cell, _as_device(value) if "device" in parameter.name else value)
        if new is not None:
            tell(frame, cell, new, call.node, f"`{parameter.name}` of `{function.qualname}` is passed here")


def _as_device(value: Value) -> Value:
    """A device that is passed by its name or number, so that what callers name is one device, which may vary."""
    place = device_named(value)
    is_named = value.kind in {Kind.STRING, Kind.NUMBER} and place in {Device.CUDA, Device.CPU}
    return Value(Kind.DEVICE, place) if is_named else value


@register(CALLABLES, Kind.CLASS)
def _instantiate(frame: Frame, callee: Value, call: Call) -> Value:
    """Make an object of a class of the project."""
    cls = callee.payload
    if not isinstance(cls, Class):
        return UNKNOWN
    instance = Value(Kind.INSTANCE, payload=cls)
    init = cls.find_method("__init__")
    if init is not None:
        frame.outcome.callees[init] = None
        pass_arguments(frame, init, bind(init, call.on(instance)), call)
    elif cls.is_record or cls.external_bases:
        for name, value in [*zip(cls.fields(), call.args, strict=False), *call.kwargs.items()]:
            store_attribute(frame, cls, name, value, call.node)
    post = cls.find_method("__post_init__")
    if post is not None:
        frame.outcome.callees[post] = None
    return instance
