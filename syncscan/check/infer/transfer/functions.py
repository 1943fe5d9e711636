"""Calls of functions and classes of the project, and of ``partial`` objects."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from syncscan.check.infer.dataflow.cells import (
    MOVED,
    UNLESS_NONE,
    Cell,
    Named,
    Place,
)
from syncscan.check.infer.domain.basic import NONE, constant, is_module, record
from syncscan.check.infer.domain.callables import BoundMethod, Partial
from syncscan.check.infer.domain.crossing import (
    brought_by,
    crossing,
    moved,
    parts_of,
    parts_on_gpu,
    returned,
    without_host,
)
from syncscan.check.infer.domain.lattice import join, join_all, via_of
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, Via
from syncscan.check.infer.source.index import Class, Function, Virtual
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.declared import annotated
from syncscan.check.infer.transfer.guesses import named
from syncscan.check.infer.transfer.made_modules import new_module
from syncscan.check.infer.transfer.passing import Passed, as_device, pass_arguments, passed_by
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import CALLABLES, register
from syncscan.check.infer.transfer.storing import store_any_attribute, store_attribute, tell
from syncscan.check.infer.transfer.virtual import parameter_at, plain_of
from syncscan.model import Device, Kind

Given = list[tuple[str, AbstractValue, Cell[AbstractValue]]]  # a parameter's name, an argument, its cell


@register(CALLABLES, Kind.UNION)
def _call_any(at: Point, callee: AbstractValue, call: Call) -> AbstractValue:
    with at.unsure():
        return join_all([at.call(option, call) for option in callee.options])


@register(CALLABLES, Kind.FUNCTION)
def _call_function(at: Point, callee: AbstractValue, call: Call) -> AbstractValue:
    payload = callee.payload
    if isinstance(payload, Function):
        return call_function(at, payload, call)
    if isinstance(payload, BoundMethod):
        return _call_bound(at, payload, call)
    if isinstance(payload, Partial):
        kwargs = {**dict(payload.kwargs), **call.kwargs}
        args = (*payload.args, *call.args)
        return at.call(
            payload.callee,
            Call(args, kwargs, call.site, is_open_ended=bool(call.args) and call.is_open_ended),
        )
    return BOTTOM


def _call_bound(at: Point, method: BoundMethod, call: Call) -> AbstractValue:
    receiver, function = method.receiver, method.function
    assert isinstance(function, Function)
    cls = receiver.payload
    if receiver.kind is Kind.INSTANCE and isinstance(cls, Class):
        at.asks(cls, function.name)
        return call_overrides(at, receiver, cls, function.name, call)
    return call_function(at, function, call.on(receiver))


def call_function(at: Point, function: Function, call: Call) -> AbstractValue:
    """Contribute the arguments of a call to a function's parameters; return its result, or the declared one."""
    own = at.context.declared.get(function)
    if own is not None:
        return at.call_outside(own, call)
    at.note_called(function, call)  # an edit of the parameters concerns this call
    if not _takes(function, call):
        return BOTTOM
    passed = passed_by(function, call)
    pass_arguments(at, function, passed, call)
    value = settled(at, at.read(at.context.known.returns[function]), (argument for _, argument in passed))
    if value.holds_gpu and parts_on_gpu(value):
        placing = at.read(at.context.known.placing[function])
        cells = at.context.known.parameters
        arguments = passed + _left_out(function, passed, call)
        given = [(p.name, argument, cells[p]) for p, argument in arguments if p.name in placing]
        value = placed_by(at, value, given, placing)
    handed = at.read(at.context.known.handed[function])
    if handed:
        value = join(value, join_all(_handed_back(at, passed, handed, call)))
    if value.kind is Kind.UNKNOWN or value.kind is Kind.NONE:
        value = _declared(at, function, value)
    if call.first.kind is Kind.INSTANCE and function.owner is not None:
        value = _self_type(function, value, call)
    return _named(at, value, function.name)


def _takes(function: Function, call: Call) -> bool:
    """Return whether a function takes the arguments of a call; a decorator may take others.

    A call that a function does not take is one of another function, or of another object's method of the same name.
    """
    site = call.site
    # The keys of a table are not surely all of its keys.
    if site is None or site.spreads or function.decorators or not _is_as_written(function, call):
        return True
    takes_names = function.more is not None or call.kwargs.keys() <= function.by_name.keys()
    too_many = len(call.args) > len(function.plain) and function.rest is None
    twice = any(parameter.name in call.kwargs for parameter in function.plain[: len(call.args)])
    if takes_names and not too_many and not (twice and function.more is None):
        return True
    return function.owner is None and function.module.lines.text.count(f"def {function.name}(") > 1


def _left_out(function: Function, passed: Passed, call: Call) -> Passed:
    """Return the parameters that a call leaves out and whose default is a literal, each with the default; None for ``**more``.

    A decorator of the project itself may pass them.
    """
    if call.site is None or call.site.spreads or _is_wrapped(function):
        return []
    filled = {parameter for parameter, _ in passed}
    missing = [each for each in function.parameters if each not in filled]
    literals = [(each, each.default) for each in missing if isinstance(each.default, ast.Constant)]
    left_out = [(each, constant(default.value)) for each, default in literals]
    return left_out + [(each, NONE) for each in missing if each is function.more]


def _is_wrapped(function: Function) -> bool:
    """Return whether a decorator is of the project: one without a package, unless the name comes from ``from package import *``."""
    module = function.module
    bare = [each for each in function.decorators if "." not in each]
    return any(each in module.names or not module.stars for each in bare)


def _is_as_written(function: Function, call: Call) -> bool:
    """Return whether the arguments of a call are those at its site, and no `functools.partial` has added any."""
    assert call.site is not None
    receivers = len(call.args) - call.site.positional
    return receivers <= (function.owner is not None) and all(
        name in call.site.keywords for name in call.kwargs
    )


def _handed_back(at: Point, passed: Passed, handed: frozenset[str], call: Call) -> Iterator[AbstractValue]:
    """Yield the arguments that a function returns as they are, and what it returns of a call of one."""
    may_move = MOVED in handed
    for parameter, argument in passed:
        is_called, some = f"{parameter.name}()" in handed, parameter.name + UNLESS_NONE in handed
        for option in argument.options:
            if is_called and option.kind in {Kind.FUNCTION, Kind.CLASS}:
                yield _back(at.call(option, Call((), {}, call.site)))
            elif parameter.name in handed or (some and option.kind is not Kind.NONE):
                yield crossing(option) if may_move and is_module(option) else _back(option)


def _back(value: AbstractValue) -> AbstractValue:
    """Return the value after a call that returns it as it is: the same parameters of the caller put it on the GPU."""
    via = via_of(parts_of(value))
    return returned(value) if via is None else brought_by(returned(value), via)


def _declared(at: Point, function: Function, value: AbstractValue) -> AbstractValue:
    """Return the declared result of a function, where it has an annotation."""
    declared = function.result
    if declared is None:
        return value
    return annotated(at, declared, function.module, function) if at.declare() else BOTTOM


def _named(at: Point, value: AbstractValue, name: str) -> AbstractValue:
    return named(at, value, name) if value.kind is Kind.TENSOR else value


def settled(at: Point, value: AbstractValue, arguments: Iterable[AbstractValue]) -> AbstractValue:
    """Return a result in host memory as on an unknown device, while an argument without a known device may decide.

    Another caller may turn out to pass a value on the GPU. Then the result is on the device of the argument, which may be any.
    """
    hidden = without_host(value)
    if hidden is value:
        return value
    is_open = any(_places_of(each, False) <= _OPEN for each in arguments if each.kind in _MAY_PLACE)
    return hidden if is_open and not at.stays_open() else value


_UNKNOWN = frozenset({Device.UNKNOWN})
_NOWHERE = None  # the place of a number
_OPEN = frozenset({Device.UNKNOWN, _NOWHERE})
_MAY_PLACE = frozenset(
    {Kind.UNKNOWN, Kind.NONE, Kind.NUMBER, Kind.STRING, Kind.TENSOR, Kind.MOVED, Kind.DEVICE, Kind.UNION, Kind.LIST,
     Kind.TUPLE, Kind.DICT}
)  # fmt: skip


def placed_by(at: Point, value: AbstractValue, given: Given, placing: frozenset[str]) -> AbstractValue:
    """Return the result of a function for this call, where some parameters decide its device ("": something else does)."""
    if placing <= _SOMETHING_ELSE:
        return value
    there = _where_given(at, value, given)
    return join(value, there) if "" in placing else there


_SOMETHING_ELSE = frozenset({""})


def _where_given(at: Point, value: AbstractValue, given: Given) -> AbstractValue:
    """Return the result of a function on the device of the arguments of this call: the join over what they may be.

    So an argument that turns out to be on several devices adds to the result, and takes nothing back.
    """
    if not given:
        return value
    places = _together([_places_of(argument, "device" in name) for name, argument, _ in given])
    found = [moved(value, place) for place in _ON_HOST if place in places]
    if Device.CUDA in places or (
        Device.UNKNOWN in places and any(_is_open(at, name, cell) for name, _, cell in given) and at.assume()
    ):
        via = _via_of_arguments(argument for _, argument, _ in given)
        found.append(value if via is None else brought_by(value, via))
    return join_all([*found, moved(value, Device.UNKNOWN)])


def _via_of_arguments(arguments: Iterable[AbstractValue]) -> Via | None:
    """Return the parameters of the caller that place its arguments; a text that names the GPU is another reason."""
    parts = [part for argument in arguments for part in parts_of(argument)]
    via = via_of(parts)
    is_named = any(part.kind is Kind.STRING and part.holds_gpu for part in parts)
    return via if via is None or not is_named else via | _SOMETHING_ELSE


_ON_HOST = (Device.CPU, Device.OTHER)
# Of arguments on several devices, the one that decides.
_DECIDING = {_NOWHERE: 0, Device.CPU: 1, Device.OTHER: 2, Device.UNKNOWN: 3, Device.CUDA: 4}
Places = frozenset[Device | None]


@functools.cache
def _places_of(value: AbstractValue, is_device: bool) -> Places:
    """Return where an argument may be; of items, the one that decides. A number names a GPU only as a device."""
    if value.kind is Kind.UNION:
        return frozenset().union(*[_places_of(option, is_device) for option in value.items or ()])
    if value.items is not None:  # another caller may fill an empty one
        return _together([_places_of(item, False) for item in value.items]) if value.items else _UNKNOWN
    if value.element is not None:
        return _places_of(value.element, False)
    if value.kind is Kind.NUMBER and is_device:
        return frozenset({Device.CUDA})
    if value.kind is Kind.NUMBER or value.kind is Kind.NONE:
        return _NO_PLACE
    if value.kind is Kind.NDARRAY:
        return frozenset({Device.CPU})
    if value.kind is Kind.STRING:
        name = str(value.payload).partition(":")[0]
        return frozenset({{"cuda": Device.CUDA, "cpu": Device.CPU}.get(name, Device.UNKNOWN)})
    return _PATHS.get(value.device) or frozenset({value.device})


_NO_PLACE: Places = frozenset({_NOWHERE})
_PATHS = {
    Device.MIXED: frozenset({Device.CUDA, Device.CPU}),
    Device.OTHER: frozenset({Device.OTHER, Device.CPU}),
}


def _together(given: Iterable[Places]) -> Places:
    """Return where arguments may be that decide the place of one result."""
    whole = _NO_PLACE
    for places in given:
        whole = frozenset({max(one, other, key=_DECIDING.__getitem__) for one in whole for other in places})
    return whole


def _is_open(at: Point, name: str, cell: Cell[AbstractValue]) -> bool:
    """Return whether an argument may still be on the GPU: a run-time device, or a tensor without known device."""
    return "device" in name or not parts_on_gpu(at.read(cell))


def _self_type(function: Function, value: AbstractValue, call: Call) -> AbstractValue:
    """Return an instance of the receiver's class, where a method returns its own object."""
    if value.kind is Kind.UNION:
        return join_all([_self_type(function, option, call) for option in value.items or ()])
    receiver = call.first
    if value.kind is not Kind.INSTANCE or function.owner is not value.payload:
        return value
    cls = receiver.payload
    return receiver if isinstance(cls, Class) and value.payload in cls.mro() else value


def call_overrides(at: Point, receiver: AbstractValue, cls: Class, name: str, call: Call) -> AbstractValue:
    """Return the joined results of a method: of the class's own method, and of the overriding methods in subclasses."""
    own, virtual = cls.find_method(name), cls.virtual(name)
    if virtual is None:
        return call_function(at, own, _of(own, receiver, call)) if own is not None else BOTTOM
    kwargs = {name: crossing(value) for name, value in call.kwargs.items()} if call.kwargs else call.kwargs
    call = Call([*map(crossing, call.args)], kwargs, call.site, call.slots, call.is_open_ended)
    returned = _call_virtual(at, virtual, call)
    if own is None:
        return returned
    return join(call_function(at, own, _of(own, receiver, call)), returned)


def _of(method: Function, receiver: AbstractValue, call: Call) -> Call:
    return call if method.is_static else call.on(receiver)


def _call_virtual(at: Point, virtual: Virtual, call: Call) -> AbstractValue:
    """Contribute arguments to all overriding methods; return their joined result."""
    known = at.context.known
    at.note_called(virtual, call)
    places = dict[Place, AbstractValue](enumerate(call.args))
    if call.is_open_ended:
        plain = plain_of(next(iter(virtual.below)))
        places.update({plain.index(parameter): call.args[-1] for parameter in call.rest_of(plain)})
    places.update(call.kwargs)
    _pass_to_all(at, virtual, places)
    value = settled(at, at.read(known.virtual_returns[virtual]), places.values())
    for name, its_place in sorted(at.read(known.virtual_handed[virtual]), key=str):
        for place in dict.fromkeys((its_place, name)):
            if place in places:
                value = join(value, crossing(places[place]))
    if value.holds_gpu and parts_on_gpu(value):
        placing = at.read(known.virtual_placing[virtual])
        names = frozenset([name for name, _ in placing])
        value = placed_by(at, value, _given(at, virtual, places, placing, call), names)
    return _named(at, value, virtual.name)


def _given(
    at: Point, virtual: Virtual, places: dict[Place, AbstractValue], placing: Iterable[Named], call: Call
) -> Given:
    """Return the arguments that decide the device of the overriding methods' results, and the literals in place of others."""
    cells, from_outside = at.context.known.virtual_arguments, at.module.is_outside
    given = []
    for name, its_place in sorted(placing, key=str):
        passed = [place for place in dict.fromkeys((its_place, name)) if place in places]
        given += [(name, places[place], cells[virtual, from_outside, place]) for place in passed]
        if not passed and call.site is not None and not call.site.spreads:
            cell = cells[virtual, from_outside, its_place]
            given += [(name, constant(default), cell) for default in _defaults_of(virtual, name)]
    return given


def _defaults_of(virtual: Virtual, name: str) -> Iterator[object]:
    """Yield the literals that overriding methods have as default of a parameter."""
    for method in virtual.below:
        default = method.by_name[name].default if name in method.by_name else None
        if isinstance(default, ast.Constant):
            yield default.value


def _pass_to_all(at: Point, virtual: Virtual, places: dict[Place, AbstractValue]) -> None:
    """Contribute arguments to the cells of all overriding methods, with parameter names from the first of them."""
    known, from_outside = at.context.known, at.module.is_outside
    first = next(iter(virtual.below))
    at.tell(known.virtual_places[virtual, from_outside], frozenset(places))
    for place, value in places.items():
        parameter = parameter_at(first, place)
        name = place if isinstance(place, str) else parameter.name if parameter is not None else str(place)
        cell = known.virtual_arguments[virtual, from_outside, place]
        tell(at, cell, as_device(value) if "device" in name else value)


def _left_to_fill(at: Point, callee: AbstractValue, cls: Class, name: str, call: Call) -> AbstractValue:
    """Return a field of a named tuple that a call does not name: its default, and whatever spread arguments may fill it with."""
    if call.is_open_ended or (call.site is not None and call.site.spreads):
        return join(at.attribute(callee, name), call.args[-1] if call.is_open_ended else BOTTOM)
    return join_all([at.read(at.context.known.set_in_bodies[base, name]) for base in cls.mro()])


@register(CALLABLES, Kind.CLASS)
def _instantiate(at: Point, callee: AbstractValue, call: Call) -> AbstractValue:
    """Return a new object of a class of the project, after calling its initialiser."""
    cls = callee.payload
    if not isinstance(cls, Class):
        return BOTTOM
    instance, passed = AbstractValue(Kind.INSTANCE, payload=cls), Passed()
    store_any_attribute(at, cls, call.any_keyword)
    at.asks(cls, "__init__")
    at.asks(cls, "__post_init__")
    init = cls.find_method("__init__")
    if init is not None:
        at.note_called(init, call)
        passed = passed_by(init, call.on(instance))
        pass_arguments(at, init, passed, call.on(instance))
    elif cls.is_record or cls.external_bases:
        for name, value in [*zip(at.fields(cls), call.args, strict=False), *call.kwargs.items()]:
            store_attribute(at, cls, name, value)
    if init is None and cls.is_named_tuple:
        fields = at.fields(cls)
        given = dict(zip(fields, call.args, strict=False)) | dict(call.kwargs)
        return record(cls, [given.get(name) or _left_to_fill(at, callee, cls, name, call) for name in fields])
    post = cls.find_method("__post_init__")
    if post is not None:
        at.note_called(post, call)
    return new_module(at, instance, passed)
