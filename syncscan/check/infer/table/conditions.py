"""The conditions of the operation table, asked of inferred values: true, false, or None for unknown."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from syncscan.model import ARRAYS, MASKS, UNKNOWN, Device, Kind, Value
from syncscan.ops import Case, Condition, Operation, Term, by_parameter

Verdict = bool | None

_LARGEST_NUMBER = 16  # bytes: complex128


@dataclass(frozen=True, slots=True)
class Bound:
    """A call of a known operation: its arguments by the parameters of its entry in the table.

    A parameter has several values where it is starred, and where it is the index of a subscript.
    """

    operation: Operation
    values: dict[str, tuple[Value, ...]]
    rest: tuple[Value, ...] = ()

    @classmethod
    def of(cls, operation: Operation, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Bound:
        """A call with these arguments."""
        return cls(operation, *by_parameter(operation.args, args, kwargs))

    def get(self, name: str) -> Value | None:
        """The value of an argument; None where it is not given."""
        values = self.values.get(name)
        return values[0] if values else None

    def operands(self) -> tuple[Value, ...]:
        """Every argument."""
        return (*(value for values in self.values.values() for value in values), *self.rest)


def blocking_case(bound: Bound) -> Case | None:
    """The first case that surely makes the host wait."""
    for case in bound.operation.blocks:
        if _all_hold(case.when, bound) is True and (
            not case.unless or _all_hold(case.unless, bound) is False
        ):
            return case
    return None


def in_form(bound: Bound) -> Bound:
    """The call with the entry as it is for this form of it, such as ``torch.where`` of a condition alone."""
    for form in bound.operation.forms:
        if _all_hold(form.when, bound) is True:
            operation = replace(bound.operation, **dict(form.fields))  # type: ignore[arg-type]
            return replace(bound, operation=operation)
    return bound


@functools.cache
def needs_no_gpu_operand(operation: Operation) -> bool:
    """Whether an operation can block with nothing on the GPU given to it: ``t.cuda()``, an explicit wait."""
    return any(not any("gpu" in term.kind for term in case.when) for case in operation.blocks)


def _all_hold(condition: Condition, bound: Bound) -> Verdict:
    verdict: Verdict = True
    for term in condition:
        one = _holds(term, bound)
        if one is False:
            return False
        verdict = None if one is None else verdict
    return verdict


def _holds(term: Term, bound: Bound) -> Verdict:
    values = bound.operands() if term.arg == "any" else bound.values.get(term.arg, ())
    values = tuple(value for value in values if value.kind is not Kind.NONE)
    if term.test == "given":
        return bool(values) is not term.negated
    if not values and term.kind.endswith(" device") and bound.operation.result == "device":
        values = (bound.get("default device") or UNKNOWN,)
    verdicts = [_test(term, value) for value in values]
    found = True if True in verdicts else None if None in verdicts else False
    return found if found is None else found is not term.negated


def _test(term: Term, value: Value) -> Verdict:
    if term.test == "bytes":
        # of sizes only that of a single number is inferred
        return value.kind is not Kind.TENSOR or value.ndim != 0 or term.size < _LARGEST_NUMBER
    return _KIND_TESTS[term.kind](value)


def _each(test: Callable[[Value], Verdict]) -> Callable[[Value], Verdict]:
    """A test of one value, asked of every option of a union."""

    def asked(value: Value) -> Verdict:
        if value.kind is Kind.UNION:
            verdicts = {test(option) for option in value.options}
            return verdicts.pop() if len(verdicts) == 1 else None
        return test(value)

    return asked


def _on(device: Device) -> Callable[[Value], Verdict]:
    def test(value: Value) -> Verdict:
        if value.kind is Kind.UNKNOWN:
            return None
        if value.kind is not Kind.TENSOR:
            return False
        if value.device is Device.MIXED:
            return True if device is Device.CUDA else None
        return None if value.device is Device.UNKNOWN else value.device is device

    return _each(test)


def _device_is(device: Device) -> Callable[[Value], Verdict]:
    def test(value: Value) -> Verdict:
        place = device_named(value)
        return None if place in {Device.UNKNOWN, Device.MIXED} else place is device

    return _each(test)


def device_named(value: Value) -> Device:
    """The place that a ``device=`` argument names, if it says one."""
    if value.kind is Kind.DEVICE:
        return value.device
    if value.kind is Kind.NUMBER and value.dtype == "int":
        return Device.CUDA
    if value.kind is Kind.STRING and isinstance(value.payload, str):
        name = value.payload.partition(":")[0]
        return {"cuda": Device.CUDA, "cpu": Device.CPU}.get(name, Device.OTHER)
    if value.kind in {Kind.STRING, Kind.UNKNOWN, Kind.UNION}:
        return Device.UNKNOWN
    return Device.OTHER


def _holds_gpu(value: Value) -> Verdict:
    """A list or tuple with a tensor on the GPU in it, or a tensor on the GPU, whose items are that."""
    if value.kind not in {Kind.LIST, Kind.TUPLE, Kind.SET}:
        return None if value.kind is Kind.UNKNOWN else False
    inside = [_on_gpu(item) for item in value.items or (value.element or UNKNOWN,)]
    inside += [_holds_gpu(item) for item in value.items or (value.element or UNKNOWN,)]
    return True if True in inside else None if None in inside else False


def _gpu_slice(value: Value) -> Verdict:
    if value.kind is not Kind.SLICE:
        return None if value.kind is Kind.UNKNOWN else False
    bounds = [_on_gpu(item) for item in value.items or ()]
    return True if True in bounds else None if None in bounds else False


def _index(value: Value) -> Verdict:
    if value.kind is not Kind.TENSOR:
        return None if value.kind is Kind.UNKNOWN else False
    if value.dtype in MASKS or value.ndim == 0:
        return False
    return None if value.dtype is None and value.ndim is None and value.device is Device.UNKNOWN else True


def _mask(value: Value) -> Verdict:
    if value.kind not in ARRAYS:
        return None if value.kind is Kind.UNKNOWN else False
    return None if value.dtype is None else value.dtype in MASKS


def _scalar(value: Value) -> Verdict:
    if value.kind in ARRAYS:
        return None if value.ndim is None else value.ndim == 0
    return None if value.kind is Kind.UNKNOWN else value.kind is Kind.NUMBER


def _both(*tests: Callable[[Value], Verdict]) -> Callable[[Value], Verdict]:
    def test(value: Value) -> Verdict:
        verdicts = [one(value) for one in tests]
        return False if False in verdicts else None if None in verdicts else True

    return _each(test)


def _of_kind(*kinds: Kind) -> Callable[[Value], Verdict]:
    return _each(lambda value: None if value.kind is Kind.UNKNOWN else value.kind in kinds)


def _host_data(value: Value) -> Verdict:
    if value.kind is Kind.UNION:
        verdicts = {_host_data(option) for option in value.options}
        return verdicts.pop() if len(verdicts) == 1 else None
    if value.is_host_data:
        return True
    if value.kind is Kind.TENSOR:
        return None if value.device in {Device.UNKNOWN, Device.MIXED} else False
    return None if value.kind in {Kind.UNKNOWN, Kind.LIST, Kind.TUPLE} else False


_on_gpu = _on(Device.CUDA)


def _pinned(expected: bool) -> Callable[[Value], Verdict]:
    def test(value: Value) -> Verdict:
        if value.kind is Kind.NDARRAY or (value.kind is Kind.TENSOR and value.device is Device.CPU):
            return None if value.pinned is None else value.pinned is expected
        return None if value.kind is Kind.UNKNOWN else False

    return _each(test)


def _true(value: Value) -> Verdict:
    if value.kind is Kind.NUMBER and value.payload is not None:
        return bool(value.payload)
    return False if value.kind is Kind.NONE else None


def _false(value: Value) -> Verdict:
    known = _true(value)
    return known if known is None or value.kind is Kind.NONE else not known


_KIND_TESTS: dict[str, Callable[[Value], Verdict]] = {
    "gpu": _on(Device.CUDA),
    "cpu": _on(Device.CPU),
    "gpu mask": _both(_on(Device.CUDA), _mask),
    "cpu mask": _both(_on(Device.CPU), _mask),
    "gpu scalar": _both(_on(Device.CUDA), _scalar),
    "gpu index": _both(_on(Device.CUDA), _index),
    "cpu index": _both(_on(Device.CPU), _index),
    "gpu slice": _each(_gpu_slice),
    "gpu sequence": _each(_holds_gpu),
    "gpu device": _device_is(Device.CUDA),
    "cpu device": _device_is(Device.CPU),
    "host data": _host_data,
    "number": _of_kind(Kind.NUMBER),
    "sequence": _of_kind(Kind.LIST, Kind.TUPLE, Kind.NDARRAY),
    "pageable": _pinned(expected=False),
    "pinned": _pinned(expected=True),
    "scalar": _scalar,
    "true": _true,
    "false": _false,
    "bfloat16": lambda _: None,  # the inference tells floats from integers, and knows no widths
    "strided": lambda _: None,  # nor layouts
    "tensor": _of_kind(Kind.TENSOR),
}
