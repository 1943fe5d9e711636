"""A method that is called through a class above its own: what it is passed, and what it returns to such callers."""

from __future__ import annotations

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.known.cells import Slot
from syncscan.check.infer.source.index import Function, Parameter
from syncscan.check.infer.values.basic import table
from syncscan.check.infer.values.lattice import join
from syncscan.model import UNKNOWN, Kind, Value


def plain_of(function: Function) -> list[Parameter]:
    """The parameters that the positional arguments of a caller fill, who does not pass the object."""
    return function.plain if function.is_static else function.plain[1:]


def parameter_at(function: Function, slot: Slot) -> Parameter | None:
    """The parameter that takes the argument in a slot."""
    if isinstance(slot, str):
        return function.by_name.get(slot, function.more)
    plain = plain_of(function)
    return plain[slot] if slot < len(plain) else function.rest


def arguments(frame: Frame) -> dict[Parameter, Value]:
    """What callers through the classes above pass to the function; not to its ``**kwargs`` what is for others of these."""
    function, virtual_known = frame.function, frame.context.known.virtual
    passed: dict[Parameter, Value] = {}
    for virtual in function.virtuals():
        for from_outside in (False, True) if function.module.is_outside else (False,):
            slots = frame.read(virtual_known.slots[virtual, from_outside])
            for slot in sorted(slots, key=str):
                parameter = parameter_at(function, slot)
                if parameter is not None and not (parameter.star and slot in virtual.names()):
                    value = frame.read(virtual_known.arguments[virtual, from_outside, slot])
                    value = table({slot: value}) if parameter.star == "**" else value
                    passed[parameter] = join(passed.get(parameter, UNKNOWN), value)
    return passed


def tell_result(frame: Frame) -> None:
    """Tell callers through the classes above what the function returns, by its body or else its annotation."""
    function, known = frame.function, frame.context.known
    virtuals = function.virtuals()
    if not virtuals:
        return
    value = frame.told(known.returns[function]) or UNKNOWN
    declared = getattr(function.node, "returns", None)
    if declared is not None and (value.kind is Kind.UNKNOWN or value.kind is Kind.NONE):
        value = frame.context.annotations.read(declared, function.module, function)
    names = frame.told(known.placing[function]) or frozenset()
    placing = frozenset((name, _slot_of(function, name)) for name in names)
    for virtual in virtuals:
        frame.tell(known.virtual.returns[virtual], value)
        frame.tell(known.virtual.placing[virtual], placing)


def _slot_of(function: Function, name: str) -> Slot:
    """The number of a parameter, or its name where it has none."""
    return next((slot for slot, parameter in enumerate(plain_of(function)) if parameter.name == name), name)
