"""Attributes read, and methods called, by a computed name: ``getattr(object, name)``, ``getattr(object, name)(...)``."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from syncscan.check.infer.dataflow.cells import ANY_TEXT
from syncscan.check.infer.domain.basic import EMPTY, list_of, sequence, updated
from syncscan.check.infer.domain.crossing import crossing
from syncscan.check.infer.domain.lattice import join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import CallSite, Slot
from syncscan.check.infer.source.index import FIELDS, Class, Function
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.call import Call, Values, with_arguments
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Kind

Passed = Sequence[tuple[Parameter, AbstractValue]]

_MOST_NAMES = 6


def read_by_name(
    at: Point, object_: AbstractValue, texts: frozenset[str], affixes: tuple[str, str]
) -> list[tuple[AbstractValue, str]]:
    """Return the objects and the names of the attributes that a text may name: those passed, or few that begin and end so."""
    if named := texts - {ANY_TEXT}:
        return [(object_, each) for each in sorted(named)]
    return [(option, each) for option in object_.options for each in _computed_names(at, option, affixes)]


def _computed_names(at: Point, object_: AbstractValue, affixes: tuple[str, str]) -> list[str]:
    """Return the attributes of an object that a computed name may be: those that begin and end as it does, if they are few."""
    cls, (start, end) = object_.payload, affixes
    if not isinstance(cls, Class) or not (start or end):
        return []
    at.asks(cls, FIELDS)
    members = {
        name for base in cls.mro() for name in (*base.methods, *base.stored) if len(name) > len(start + end)
    }
    names = sorted(name for name in members if name.startswith(start) and name.endswith(end))
    return names if len(names) <= _MOST_NAMES else []


def called_by_name(at: Point, values: Values, site: CallSite) -> AbstractValue:
    """Return the result of ``getattr(object, name)(...)``: of one method after the other, since a value holds few functions.

    The methods of a name get only what callers pass beside this name.
    """
    slots = at.state.ir.operands[at.number]
    object_, name, *given = values
    named = at.context.parameter_at(at.state, slots[1])
    results = []
    for option, text in read_by_name(at, object_, at.texts(name, slots[1]), site.affixes):
        passed = given if named is None else _passed_with(at, named, text, given, slots[2:])
        results.append(at.call_method(option, text, with_arguments(passed, slots[2:], site)))
    return join_all(results)


def _passed_with(
    at: Point, named: Parameter, text: str, given: Values, slots: Sequence[Slot]
) -> list[AbstractValue]:
    """Return arguments with what callers pass beside a text in place of what they pass beside any."""
    cells, passed = at.context.known.beside_texts, [*given]
    for place, slot in enumerate(slots):
        parameter = at.context.parameter_at(at.state, slot)
        if parameter is None or parameter is named or parameter.default is not None:
            continue
        passed[place] = join_all(at.read(cells[named, each, parameter]) for each in (text, ANY_TEXT))
    return passed


def tell_beside(
    at: Point, function: Function, named: Parameter, texts: Iterable[str], call: Call, passed: Passed
) -> None:
    """Contribute what a caller passes beside the texts for a parameter that names attributes."""
    together = {parameter: value for parameter, value in passed if not parameter.star}
    if function.rest is not None:
        rest = [value for parameter, value in passed if parameter is function.rest]
        together[function.rest] = (
            list_of(join_all(rest), Kind.TUPLE) if call.is_open_ended else sequence(rest, Kind.TUPLE)
        )
    if function.more is not None:
        more = [value for parameter, value in passed if parameter is function.more]
        together[function.more] = functools.reduce(updated, more, EMPTY)
    cells = at.context.known.beside_texts
    for parameter, value in together.items():
        if parameter is not named and value is not BOTTOM:
            for text in texts:
                at.tell(cells[named, text, parameter], crossing(value))
