"""Virtual methods: arguments from callers through base classes, and results for them."""

from __future__ import annotations

from syncscan.check.infer.dataflow.cells import Place
from syncscan.check.infer.domain.basic import table
from syncscan.check.infer.domain.lattice import join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.point import Point


def plain_of(function: Function) -> list[Parameter]:
    """Return the parameters that positional arguments fill, without the receiver."""
    return function.plain if function.is_static else function.plain[1:]


def parameter_at(function: Function, place: Place) -> Parameter | None:
    """Return the parameter for the argument at a position or under a name, or None."""
    if isinstance(place, str):
        return function.by_name.get(place, function.more)
    plain = plain_of(function)
    return plain[place] if place < len(plain) else function.rest


def passed_through(at: Point, wanted: Parameter) -> AbstractValue:
    """Return the join of the arguments that callers through base classes pass to a parameter.

    Keywords that only other overriding methods name do not reach ``**kwargs``.
    """
    function, known = at.function, at.context.known
    passed = BOTTOM
    virtuals = function.virtuals()
    if not virtuals:
        return passed
    own = (place_of(function, wanted.name), wanted.name)
    for virtual in virtuals:
        for from_outside in (False, True) if function.module.is_outside else (False,):
            places = at.read(known.virtual_places[virtual, from_outside])
            for place in sorted(places, key=str) if wanted.star else dict.fromkeys(own):
                if place not in places or parameter_at(function, place) is not wanted:
                    continue
                if not (wanted.star and place in virtual.names()):
                    value = at.read(known.virtual_arguments[virtual, from_outside, place])
                    passed = join(passed, table({place: value}) if wanted.star == "**" else value)
    return passed


def is_passed_through(at: Point, wanted: Parameter) -> bool:
    """Return whether callers through base classes pass a parameter, with a known value or not."""
    function, known = at.function, at.context.known
    own = {place_of(function, wanted.name), wanted.name}
    return any(not own.isdisjoint(at.read(known.virtual_places[each, False])) for each in function.virtuals())


def place_of(function: Function, name: str) -> Place:
    """Return the position of a parameter, or its name for a keyword-only one."""
    return next((place for place, each in enumerate(plain_of(function)) if each.name == name), name)
