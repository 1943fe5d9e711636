"""A method that is called through a class above its own: what it is passed, and what it returns to such callers."""

from __future__ import annotations

from syncscan.check.infer.dataflow.cells import Place
from syncscan.check.infer.domain.basic import table
from syncscan.check.infer.domain.lattice import join
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Function, Parameter
from syncscan.check.infer.transfer.point import Point


def plain_of(function: Function) -> list[Parameter]:
    """Return the parameters that the positional arguments of a caller fill, who does not pass the object."""
    return function.plain if function.is_static else function.plain[1:]


def parameter_at(function: Function, place: Place) -> Parameter | None:
    """Return the parameter that takes the argument in a place."""
    if isinstance(place, str):
        return function.by_name.get(place, function.more)
    plain = plain_of(function)
    return plain[place] if place < len(plain) else function.rest


def passed_through(at: Point, wanted: Parameter) -> AbstractValue:
    """Return what callers through the classes above pass to a parameter; not to ``**kwargs`` what is for others of these."""
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


def place_of(function: Function, name: str) -> Place:
    """Return the number of a parameter, or its name where it has none."""
    return next((place for place, each in enumerate(plain_of(function)) if each.name == name), name)
