"""Calls of packages with a stub in `rules/stubs`."""

from __future__ import annotations

from syncscan.check.infer.domain.lattice import as_tensor
from syncscan.check.infer.domain.value import AbstractValue, refine
from syncscan.check.infer.transfer.call import Call
from syncscan.check.infer.transfer.conditions import Bound
from syncscan.check.infer.transfer.distributions import on_tensors, settle_checks, with_checks, wrapped_in
from syncscan.check.infer.transfer.framework_calls import hand_on
from syncscan.check.infer.transfer.operands import together
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import PACKAGES, STUBBED, register
from syncscan.check.infer.transfer.results import placed, result_of
from syncscan.model import Device, Kind
from syncscan.ops.stubs import Stub


@register(PACKAGES, STUBBED)
def _of_stub(at: Point, name: str, call: Call) -> AbstractValue:
    """Return the result of a call to a stubbed API."""
    stub = at.context.stub(name)
    assert stub is not None
    kwargs = {key: as_tensor(value) for key, value in call.kwargs.items()}
    bound = Call([as_tensor(value) for value in call.args], kwargs, call.site).bound(stub.operation)
    hand_on(at, stub.callbacks, bound, call)
    checks = settle_checks(at, name, bound)
    bound = on_tensors(at, name, bound)
    result = with_checks(bound, result_of(bound, at))
    if result.kind is Kind.INSTANCE and stub.items:
        result = _holding(at, stub, bound, result)
    if checks and not _is_of_the_host(bound):
        at.note_bound(name, call, bound)
    return result


def _holding(at: Point, stub: Stub, bound: Bound, made: AbstractValue) -> AbstractValue:
    """Return an object on the device of the tensors that it holds."""
    if stub.items == "input":
        wrapped = wrapped_in(bound)
        held = together(at, bound.operands()) if wrapped is None else wrapped
        return refine(made, device=held.device, confidence=held.confidence, via=held.via)
    if stub.items == "device" and (device := bound.get("device")) is not None:
        place, confidence, via = placed(device, at)
        return refine(made, device=place, confidence=confidence, via=via)
    return refine(made, device=_PLACES.get(stub.items, Device.UNKNOWN))


_PLACES = {"cpu": Device.CPU, "gpu": Device.CUDA}


def _is_of_the_host(bound: Bound) -> bool:
    """Return whether the entry of a method has no conditions, and its object is not known to be on the GPU."""
    receiver = bound.get("self")
    return receiver is not None and receiver.device in {Device.CPU, Device.UNKNOWN} and not _asks(bound)


def _asks(bound: Bound) -> bool:
    return any(case.when for case in bound.operation.blocks)
