"""The calls that frameworks make: of methods that a class of the project overrides, and of functions that they are given.

The stubs say where the arguments of such a call live (`syncscan.ops.stubs`, ``callbacks``).
"""

from __future__ import annotations

from collections.abc import Iterable

from syncscan.check.infer.domain.basic import GPU_BATCH, NDARRAY, NUMBER, STRING, list_of, record
from syncscan.check.infer.domain.crossing import on_gpu
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.source.parameters import Parameter
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Confidence, Device, Kind
from syncscan.ops.stubs import Callback, overridden

# A batch is a tensor or a container of tensors: an unresolved transfer.
_VALUES = {
    "gpu": GPU_BATCH,
    "cpu": AbstractValue(Kind.MOVED, Device.CPU, Confidence.INFERRED),
    "number": NUMBER,
    "ndarray": NDARRAY,
    "string": STRING,
    "list": list_of(BOTTOM),
}


def given_by_framework(at: Point, parameter: Parameter) -> AbstractValue:
    """Return what a framework passes to a parameter of the method at hand; BOTTOM where no stub says so."""
    function = at.function
    if function.owner is None or function.is_static or parameter not in function.plain:
        return BOTTOM
    bases = (outside for each in function.owner.mro() for outside in each.external_bases)
    callback = overridden(bases, function.name)
    position = function.plain.index(parameter) - 1
    if callback is None or not 0 <= position < len(callback.gets):
        return BOTTOM
    if callback.gets[position] == "gpu":
        at.origin(
            f"`{parameter.name}` is what the framework passes to `{function.name}`, on the GPU",
            node=function.node,
        )
    return _VALUES.get(callback.gets[position], BOTTOM)


def moved_by_framework(at: Point, value: AbstractValue) -> AbstractValue:
    """Return what a framework passes on the GPU; of a record, the framework has copied the tensors in its fields."""
    cls = value.payload if value.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class) or not cls.is_record:
        return value
    return record(cls, [on_gpu(at.attribute(value, name)) for name in at.fields(cls)])


def hand_on(at: Point, callbacks: Iterable[Callback], bound: Bound, call: Call) -> None:
    """Contribute the arguments with which an API calls the functions that it is given."""
    for callback in callbacks:
        given = bound.get(callback.name) if callback.gets else None
        if given is not None and given is not BOTTOM:
            args = [_VALUES.get(place, BOTTOM) for place in callback.gets]
            at.call_later(given, Call(args, {}, call.site))
