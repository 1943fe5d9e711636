"""Calls of what the project defines: its functions, its classes, and what ``partial`` makes of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.guesses import named
from syncscan.check.infer.evaluate.registry import CALLABLES, register
from syncscan.check.infer.evaluate.storing import news, store_attribute, tell
from syncscan.check.infer.evaluate.virtual import parameter_at
from syncscan.check.infer.known.cells import Cell, Named, Slot
from syncscan.check.infer.source.index import Class, Function, Parameter, Virtual
from syncscan.check.infer.values.basic import record, table
from syncscan.check.infer.values.callables import BoundMethod, Partial
from syncscan.check.infer.values.lattice import join, join_all
from syncscan.check.infer.values.passing import evidence_in, inferred, moved, parts_of
from syncscan.model import ON_GPU, UNKNOWN, Device, Kind, Value
from syncscan.ops.inferred import device_named

Passed = list[tuple[Parameter, Value]]
Given = list[
    tuple[str, Value, Cell[Value]]
]  # a parameter's name, an argument, what is known of the parameter


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
    """Pass arguments to a function of the project, and take what it is known to return, or what is declared."""
    declared = frame.context.declared.get(function)
    if declared is not None:
        return frame.call_outside(declared, call)
    frame.note_called(function, call)
    passed = passed_by(function, call)
    pass_arguments(frame, function, passed, call)
    value = frame.read(frame.context.known.returns[function])
    declared = getattr(function.node, "returns", None)
    if declared is not None and (value.kind is Kind.UNKNOWN or value.kind is Kind.NONE):
        value = frame.context.annotations.read(declared, function.module, function)
    if isinstance(value.payload, Class) and value.kind is Kind.INSTANCE:
        value = _self_type(function, value, call)
    if evidence_in(value):
        placing = frame.read(frame.context.known.placing[function])
        if placing and "" not in placing:
            cells = frame.context.known.parameters
            given = [(p.name, argument, cells[p]) for p, argument in passed if p.name in placing]
            value = _where_given(frame, value, given)
    return _named(frame, value, function.name)


def _named(frame: Frame, value: Value, name: str) -> Value:
    return named(frame, value, name) if value.kind is Kind.TENSOR else value


def _where_given(frame: Frame, value: Value, given: Given) -> Value:
    """What a function returns that works where its arguments live, to a caller that passes these."""
    places = {place for _, argument, _ in given for part in parts_of(argument) for place in _place_of(part)}
    if not places or places & ON_GPU:
        return value
    if places == {Device.CPU}:
        return moved(value, Device.CPU)
    if frame.assume() and any(_is_open(frame, name, cell) for name, _, cell in given):
        return value
    return moved(value, Device.UNKNOWN)


def _is_open(frame: Frame, name: str, cell: Cell[Value]) -> bool:
    """Whether it is a device that only the run decides, or a tensor that nobody is seen to place."""
    return "device" in name or not any(evidence_in(frame.read(cell)))


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


def call_overrides(frame: Frame, receiver: Value, cls: Class, name: str, call: Call) -> Value:
    """Call a method of an object of a class, or of any below: the one that it has itself, and those that override it."""
    own, virtual = cls.find_method(name), cls.virtual(name)
    if virtual is None:
        return call_function(frame, own, _of(own, receiver, call)) if own is not None else UNKNOWN
    call = Call(tuple(map(inferred, call.args)), {k: inferred(v) for k, v in call.kwargs.items()}, call.node)
    returned = _call_virtual(frame, virtual, call)
    if own is None:
        return returned
    return join(call_function(frame, own, _of(own, receiver, call)), returned)


def _of(method: Function, receiver: Value, call: Call) -> Call:
    return call if method.is_static else call.on(receiver)


def _call_virtual(frame: Frame, virtual: Virtual, call: Call) -> Value:
    """Pass arguments to all methods below a class, and take what they are known to return."""
    known = frame.context.known.virtual
    frame.note_called(virtual, call)
    slots = dict[Slot, Value](enumerate(call.args))
    slots.update(call.kwargs)
    _pass_to_all(frame, virtual, slots, call)
    value = frame.read(known.returns[virtual])
    if evidence_in(value):
        placing = frame.read(known.placing[virtual])
        if placing and all(name for name, _ in placing):
            value = _where_given(frame, value, _given(frame, virtual, slots, placing))
    return _named(frame, value, virtual.name)


def _given(frame: Frame, virtual: Virtual, slots: dict[Slot, Value], placing: Iterable[Named]) -> Given:
    """Of what is passed to the methods below a class, that which decides where their results are."""
    cells, from_outside = frame.context.known.virtual.arguments, frame.module.is_outside
    return [
        (name, slots[place], cells[virtual, from_outside, place])
        for name, slot in sorted(placing, key=str)
        for place in dict.fromkeys((slot, name))
        if place in slots
    ]


def _pass_to_all(frame: Frame, virtual: Virtual, slots: dict[Slot, Value], call: Call) -> None:
    """Tell the methods below a class what is passed to them, under the names that the first of them has."""
    known, from_outside = frame.context.known.virtual, frame.module.is_outside
    first = next(iter(virtual.below))
    frame.tell(known.slots[virtual, from_outside], frozenset(slots))
    for slot, value in slots.items():
        parameter = parameter_at(first, slot)
        name = slot if isinstance(slot, str) else parameter.name if parameter is not None else str(slot)
        cell = known.arguments[virtual, from_outside, slot]
        new = news(frame, cell, _as_device(value) if "device" in name else value)
        if new is not None:
            where = f"`{virtual.cls.qualname}.{virtual.name}`"
            tell(frame, cell, new, call.node, f"`{name}` of {where} is passed here")


def passed_by(function: Function, call: Call) -> Passed:
    """The parameters that a call fills, each with its argument; several times where it takes several."""
    passed: Passed = [*zip(function.plain, call.args, strict=False)]
    if function.rest is not None:
        passed += [(function.rest, value) for value in call.args[len(function.plain) :]]
    for name, value in call.kwargs.items():
        target = function.by_name.get(name)
        if target is not None and target is not function.more:
            passed.append((target, value))
        elif function.more is not None:
            passed.append((function.more, table({name: value})))
    return passed


def pass_arguments(frame: Frame, function: Function, passed: Passed, call: Call) -> None:
    """Tell a function what is passed to its parameters."""
    if not frame.may_tell(function.module):
        return
    cells, chosen = frame.context.known.parameters, frame.context.chosen_by_text(function)
    if chosen:
        _tell_texts(frame, function, passed, call)
    for parameter, value in passed:
        cell = cells[parameter]
        new = news(frame, cell, _as_device(value) if "device" in parameter.name else value)
        if new is not None:
            tell(frame, cell, new, call.node, f"`{parameter.name}` of `{function.qualname}` is passed here")


def _tell_texts(frame: Frame, function: Function, passed: Passed, call: Call) -> None:
    """Tell a private function which texts are passed to the parameters for which that matters."""
    texts, chosen = frame.context.known.texts, frame.context.chosen_by_text(function)
    given = [(parameter, value) for parameter, value in passed if parameter.name in chosen]
    if _spreads(call.node):
        given += [(parameter, UNKNOWN) for parameter in function.parameters if parameter.name in chosen]
    for parameter, value in given:
        if told := frame.texts(value):
            frame.tell(texts[parameter], told)


def _spreads(node: ast.expr) -> bool:
    """Whether a call passes on what it was given."""
    if not isinstance(node, ast.Call):
        return True
    return any(keyword.arg is None for keyword in node.keywords) or any(
        isinstance(each, ast.Starred) for each in node.args
    )


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
    frame.asks(cls, "__init__")
    frame.asks(cls, "__post_init__")
    init = cls.find_method("__init__")
    if init is not None:
        frame.note_called(init, call)
        pass_arguments(frame, init, passed_by(init, call.on(instance)), call)
    elif cls.is_record or cls.external_bases:
        for name, value in [*zip(frame.fields(cls), call.args, strict=False), *call.kwargs.items()]:
            store_attribute(frame, cls, name, value, call.node)
    if init is None and cls.is_named_tuple:
        fields = frame.fields(cls)
        given = dict(zip(fields, call.args, strict=False)) | dict(call.kwargs)
        return record(cls, (given.get(name, UNKNOWN) for name in fields))
    post = cls.find_method("__post_init__")
    if post is not None:
        frame.note_called(post, call)
    return instance
