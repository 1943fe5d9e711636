"""Transfer functions of containers that a function fills for its callers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from syncscan.check.infer.dataflow.cells import Place
from syncscan.check.infer.domain.basic import list_of, table
from syncscan.check.infer.domain.callables import BoundMethod
from syncscan.check.infer.domain.lattice import REST, items_of_table, join, join_all
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.ir.instructions import Op
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import INSTRUCTIONS, register
from syncscan.check.infer.transfer.storing import tell
from syncscan.check.infer.transfer.virtual import parameter_at
from syncscan.model import Kind

_CONTAINERS = frozenset({Kind.DICT, Kind.LIST, Kind.SET})
_MAY_BE_FILLED = frozenset({Kind.UNKNOWN, *_CONTAINERS})


@register(INSTRUCTIONS, Op.EMPTIED)
def _emptied(at: Point, values: Sequence[AbstractValue], data: None) -> AbstractValue:
    kinds = dict.fromkeys(option.kind for option in values[0].options if option.kind in _CONTAINERS)
    return join_all([table({}) if kind is Kind.DICT else list_of(BOTTOM, kind) for kind in kinds])


@register(INSTRUCTIONS, Op.FILL)
def _fill(at: Point, values: Sequence[AbstractValue], position: int) -> AbstractValue:
    """Contribute what a function adds to an argument, which callers find there."""
    tell(at, at.context.known.filled[at.function.parameters[position]], values[0])
    return BOTTOM


@register(INSTRUCTIONS, Op.AFTER_CALL)
def _after_call(at: Point, values: Sequence[AbstractValue], data: tuple[Place, str]) -> AbstractValue:
    (before, called), (place, method) = values, data
    if not any(option.kind in _MAY_BE_FILLED for option in before.options):
        return before
    callee = at.attribute(called, method) if method else called
    parameters = dict.fromkeys(_parameters(at, callee, place))
    whole = before
    for each in parameters:
        whole = _with_more(whole, at.read(at.context.known.filled[each]))
    return whole


def _with_more(before: AbstractValue, filled: AbstractValue) -> AbstractValue:
    """Return a container with what a callee adds; what it adds under keys that nobody knows says nothing of known ones."""
    known, more = items_of_table(before), items_of_table(filled)
    if filled.kind is not Kind.DICT or known is None or not known.keys() - {REST}:
        return join(before, filled)
    named = {key: item for key, item in (more or {}).items() if key is not REST}
    return join(before, table(named)) if named else before


def _parameters(at: Point, callee: AbstractValue, place: Place) -> Iterator[Parameter]:
    """Yield the parameters that an argument of a call is passed to, in every function that the call may run."""
    for option in callee.options:
        payload = option.payload if option.kind is Kind.FUNCTION else None
        if isinstance(payload, Function):
            yield from _of_function(payload, place)
        elif isinstance(payload, BoundMethod) and isinstance(payload.function, Function):
            yield from _of_method(payload.function, place)
            cls = payload.receiver.payload
            virtual = cls.virtual(payload.function.name) if isinstance(cls, Class) else None
            for below in virtual.below if virtual is not None else ():
                yield from _of_method(below, place)


def _of_function(function: Function, place: Place) -> Iterator[Parameter]:
    if isinstance(place, str):
        yield from [function.by_name[place]] if place in function.by_name else []
    else:
        yield from function.plain[place : place + 1]


def _of_method(function: Function, place: Place) -> Iterator[Parameter]:
    parameter = parameter_at(function, place)
    if parameter is not None and not parameter.star:
        yield parameter
