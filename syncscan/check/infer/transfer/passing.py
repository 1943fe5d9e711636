"""Arguments of calls, and what they contribute to the parameters of functions of the project."""

from __future__ import annotations

from syncscan.check.infer.dataflow.cells import LEFT_OUT, PERHAPS_PASSED
from syncscan.check.infer.domain.basic import is_module, table
from syncscan.check.infer.domain.crossing import crossing, returned
from syncscan.check.infer.domain.value import BOTTOM, TOP, AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, Slot
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.by_name import tell_beside
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import store_attribute
from syncscan.model import Device, Kind
from syncscan.ops.inferred import device_named

Passed = list[tuple[Parameter, AbstractValue]]


def passed_by(function: Function, call: Call) -> Passed:
    """Return the parameters that a call fills, each with its argument; starred ones once for each argument."""
    passed: Passed = [*zip(function.plain, call.args, strict=False)]
    if call.is_open_ended:
        passed += [(parameter, call.args[-1]) for parameter in call.rest_of(function.plain)]
    if function.rest is not None:
        passed += [(function.rest, value) for value in call.args[len(function.plain) :]]
    for name, value in call.kwargs.items():
        target = function.by_name.get(name)
        if target is not None and target is not function.more:
            passed.append((target, value))
        elif function.more is not None:
            passed.append((function.more, table({name: value})))
    return passed


def pass_arguments(at: Point, function: Function, passed: Passed, call: Call) -> None:
    """Contribute the arguments of a call to the cells of the parameters."""
    if not at.may_tell(function.module):
        return
    cells, chosen = at.context.known.parameters, at.context.known_by_text(function)
    if chosen:
        _tell_texts(at, function, passed, call)
    if len(passed) < len(function.parameters) and call.site is not None:
        _tell_left_out(at, function, passed, call.site)
    if function.more is not None and function.more.name in at.context.names_attributes(function):
        _set_each(at, function, call)
    for parameter, value in passed:
        if value is not BOTTOM:
            told = as_device(value) if "device" in parameter.name else value
            at.tell(cells[parameter], _crossing(at, told, parameter, function, call))
        elif parameter.is_plain_by_default and at.stays_open():
            at.tell(at.context.known.defaulted[parameter], PERHAPS_PASSED)


def _tell_left_out(at: Point, function: Function, passed: Passed, site: CallSite) -> None:
    """Note the parameters whose default a call takes, or may take."""
    filled = {parameter.name for parameter, _ in passed}
    for parameter in function.parameters:
        if parameter.default is not None and parameter.name not in filled:
            at.tell(at.context.known.defaulted[parameter], PERHAPS_PASSED if site.spreads else LEFT_OUT)


def _set_each(at: Point, function: Function, call: Call) -> None:
    """Contribute the keywords of a call to the attributes that the method sets under their names."""
    for option in call.first.options:
        if option.kind is not Kind.INSTANCE or not isinstance(option.payload, Class):
            continue
        for name, value in call.kwargs.items():
            if name not in function.by_name:
                store_attribute(at, option.payload, name, value)


def _crossing(
    at: Point, value: AbstractValue, parameter: Parameter, function: Function, call: Call
) -> AbstractValue:
    """Return an argument as the function sees it: a module that nothing else has seen yet is where it was made."""
    crossed = crossing(value)
    if crossed is value or not any(is_module(part) for part in value.options):
        return crossed
    slot = _slot_of(function, parameter, call)
    is_new = slot >= 0 and at.context.first_handed(at.state).get(slot) == at.number
    return returned(value) if is_new else crossed


def _tell_texts(at: Point, function: Function, passed: Passed, call: Call) -> None:
    """Contribute the texts passed to parameters that select behaviour, or name an attribute, by their text."""
    texts, chosen = at.context.known.texts, at.context.known_by_text(function)
    given = [
        (parameter, value, _slot_of(function, parameter, call))
        for parameter, value in passed
        if parameter.name in chosen and not parameter.star
    ]
    if call.site is None or call.site.spreads:
        plain = (parameter for parameter in function.parameters if not parameter.star)
        given += [(parameter, TOP, -1) for parameter in plain if parameter.name in chosen]
    naming = at.context.names_attributes(function)
    for parameter, value, slot in given:
        if told := at.texts(value, slot):
            at.tell(texts[parameter], told)
            if parameter.name in naming:
                tell_beside(at, function, parameter, told, call, passed)


def _slot_of(function: Function, parameter: Parameter, call: Call) -> Slot:
    """Return the slot of the argument for a parameter, or -1."""
    if parameter.name in call.kwargs:
        return call.slot_of(parameter.name)
    return call.slot_of(function.plain.index(parameter)) if parameter in function.plain else -1


def as_device(value: AbstractValue) -> AbstractValue:
    """Return a device passed as a string or number as a device value, so that devices of all callers join."""
    if value.kind is not Kind.STRING and value.kind is not Kind.NUMBER:
        return value
    place = device_named(value)
    return AbstractValue(Kind.DEVICE, place) if place in {Device.CUDA, Device.CPU} else value
