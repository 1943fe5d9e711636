"""Refinement of values by tests: the instructions, and what they do to a value."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from syncscan.check.infer.dataflow.context import asked_of
from syncscan.check.infer.domain.basic import NONE, list_of
from syncscan.check.infer.domain.lattice import as_tensor, join_all, without_none
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.transfer.guesses import on_one_path
from syncscan.check.infer.transfer.modules import works_where_its_module_is
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.registry import INSTRUCTIONS, register
from syncscan.model import Confidence, Device, Kind
from syncscan.ops.inferred import device_named

_KINDS = {
    "torch.Tensor": Kind.TENSOR,
    "Tensor": Kind.TENSOR,
    "numpy.ndarray": Kind.NDARRAY,
    "builtins.int": Kind.NUMBER,
    "builtins.float": Kind.NUMBER,
    "builtins.bool": Kind.NUMBER,
    "builtins.str": Kind.STRING,
    "builtins.list": Kind.LIST,
    "builtins.tuple": Kind.TUPLE,
    "builtins.dict": Kind.DICT,
    "builtins.set": Kind.SET,
    "builtins.slice": Kind.SLICE,
    "collections.abc.Mapping": Kind.DICT,
    "typing.Mapping": Kind.DICT,
    "numbers.Number": Kind.NUMBER,
}

_NOWHERE = frozenset(
    {Kind.NONE, Kind.NUMBER, Kind.STRING, Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET, Kind.SLICE, Kind.CLASS}
)  # have no device

_WITHOUT_TENSORS = sys.stdlib_module_names | {
    "numpy",
    "pandas",
    "PIL",
}  # packages whose classes no tensor is of
_ALSO_TENSORS = frozenset(
    {"object", "Any", "Iterable", "Sized", "Hashable", "Container", "Collection", "Reversible"}
)  # but for these (torch 2.13), and ``SupportsFloat`` and the like

_TESTED = {
    Device.CUDA: "a test selects this branch for {} on the GPU",
    Device.CPU: "a test selects this branch for {} in host memory",
}

IS_INSTANCE = frozenset({"builtins.isinstance", "builtins.type", "torch.is_tensor"})


@register(INSTRUCTIONS, Op.NOT_NONE)
def _not_none(at: Point, values: Sequence[AbstractValue], data: None) -> AbstractValue:
    return without_none(values[0])


@register(INSTRUCTIONS, Op.TRUE)
def _true(at: Point, values: Sequence[AbstractValue], data: None) -> AbstractValue:
    return without_none(values[0])


@register(INSTRUCTIONS, Op.TESTED)
def _tested(at: Point, values: Sequence[AbstractValue], data: tuple[bool, bool]) -> AbstractValue:
    (value, function), (holds, is_own) = values, data
    if not isinstance(function.payload, Function):
        return value
    at.asks(*asked_of(function.payload))
    for_none = at.context.holds_for_none(function.payload)
    if for_none is None:
        return value
    if for_none is not holds:
        return without_none(value)
    return NONE if is_own else value


@register(INSTRUCTIONS, Op.IS_INSTANCE)
def _is_instance(
    at: Point, values: Sequence[AbstractValue], data: tuple[tuple[str, ...], bool]
) -> AbstractValue:
    (value, asked, *classes), (names, holds) = values, data
    if asked.payload not in IS_INSTANCE:
        return value
    narrowed = of_classes_asked(at, value, classes, names, holds=holds)
    passed = _passed(at, at.state.ir.operands[at.number][0]) if holds and narrowed is BOTTOM else BOTTOM
    return narrowed if passed is BOTTOM else of_classes_asked(at, passed, classes, names, holds=holds)


def _passed(at: Point, slot: Slot) -> AbstractValue:
    """Return what callers pass for a parameter, also beside the tensors that decide about the parameter; else BOTTOM."""
    ir = at.state.ir
    while slot >= 0 and ir.ops[slot] == Op.IS_INSTANCE:
        slot = ir.operands[slot][0]
    parameter = at.context.parameter_at(at.state, slot)
    return BOTTOM if parameter is None else at.read(at.context.known.parameters[parameter])


@register(INSTRUCTIONS, Op.AT_PLACE)
def _at_place(at: Point, values: Sequence[AbstractValue], device: Device) -> AbstractValue:
    return at_place(at, values[0], device)


@register(INSTRUCTIONS, Op.AT_DEVICE)
def _at_device(at: Point, values: Sequence[AbstractValue], data: None) -> AbstractValue:
    value, device = values
    place = device_named(device)
    is_open = device is BOTTOM or (device.kind is Kind.DEVICE and place is Device.UNKNOWN)
    if is_open and not at.stays_open():
        return BOTTOM
    known = device.kind is Kind.DEVICE and place in {Device.CUDA, Device.CPU}
    return at_place(at, value, place) if known else value


def at_place(at: Point, value: AbstractValue, device: Device) -> AbstractValue:
    """Return a value refined to a tensor on a device; BOTTOM where the value is known to be elsewhere, or no tensor."""
    if value.kind is Kind.UNION:
        return join_all([at_place(at, option, device) for option in value.items or ()])
    if value.kind in _NOWHERE:
        return BOTTOM
    if value.kind is Kind.TENSOR and value.device is not device:
        if value.device is Device.MIXED or (value.device is Device.OTHER and device is Device.CPU):
            return on_one_path(value, device)
        if value.device is not Device.UNKNOWN or not at.stays_open():
            return BOTTOM
        at.origin(_TESTED[device])
        return refine(value, device=device, confidence=Confidence.INFERRED)
    if value is BOTTOM and at.stays_open():
        at.origin(_TESTED[device])
        return AbstractValue(Kind.TENSOR, device)
    return value


def _full_names(classes: Sequence[AbstractValue], names: Sequence[str]) -> list[str]:
    return [
        each.payload if isinstance(each.payload, str) else name
        for each, name in zip(classes, names, strict=True)
    ]


def kinds_asked(classes: Sequence[AbstractValue], names: Sequence[str]) -> set[Kind]:
    """Return the kinds that ``isinstance(x, (Tensor, int))`` tests for; empty if any class has no kind of its own."""
    full = _full_names(classes, names)
    return {_KINDS[name] for name in full} if all(name in _KINDS for name in full) else set()


def of_classes_asked(
    at: Point,
    value: AbstractValue,
    classes: Sequence[AbstractValue],
    names: Sequence[str],
    *,
    holds: bool,
) -> AbstractValue:
    """Return a value refined by an ``isinstance`` that holds, or does not."""
    if kinds := kinds_asked(classes, names):
        return _of_kinds(at, value, kinds, holds=holds)
    wanted = [each.payload for each in classes if isinstance(each.payload, Class)]
    if len(wanted) == len(classes):
        return _of_classes(at, value, wanted, holds=holds)
    full = [each.payload for each in classes if isinstance(each.payload, str)]
    excludes = holds and len(full) == len(classes) and not any(map(_may_be_tensor, full))
    options = value.items if value.kind is Kind.UNION and value.items else (value,)
    return join_all([option for option in options if option.kind is not Kind.TENSOR]) if excludes else value


def _may_be_tensor(cls: str) -> bool:
    """Return whether a tensor may be an instance of a class, by the full name of the class."""
    package, _, name = cls.rpartition(".")
    is_known = package.partition(".")[0] in _WITHOUT_TENSORS
    return not is_known or name in _ALSO_TENSORS or name.startswith("Supports")


def is_always(value: AbstractValue, kinds: set[Kind]) -> bool:
    """Return whether a value is certainly of one of these kinds; NUMBER is uncertain, because it covers several classes."""
    return value.kind in kinds - {Kind.NUMBER}


def _of_kinds(at: Point, value: AbstractValue, kinds: set[Kind], *, holds: bool) -> AbstractValue:
    if value.kind is Kind.UNION:
        options = [item for item in value.items or () if holds or item.kind not in kinds]
        return join_all([_of_kinds(at, item, kinds, holds=holds) for item in options])
    if not holds:
        may_fail = value.kind not in kinds or (value.kind is Kind.NUMBER and at.stays_open())
        return value if may_fail else BOTTOM
    return _of_one_kind(at, value, kinds)


_HOLDERS = (Kind.LIST, Kind.TUPLE)


def _of_one_kind(at: Point, value: AbstractValue, kinds: set[Kind]) -> AbstractValue:
    """Return a value that is no union, refined to these kinds."""
    if value.kind is Kind.MOVED:  # a tensor, or what holds some; of a dictionary the names tell
        holders = [list_of(value, kind) for kind in _HOLDERS if kind in kinds]
        tensors = [as_tensor(value)] if Kind.TENSOR in kinds else []
        return join_all([*holders, *tensors, value if Kind.DICT in kinds else BOTTOM])
    if value.kind in kinds:
        return value
    if value.kind is Kind.UNKNOWN and len(kinds) == 1:
        is_settled = value.payload is not None or at.stays_open()
        return _unplaced(at, value, AbstractValue(next(iter(kinds)))) if is_settled else BOTTOM
    return BOTTOM


def _unplaced(at: Point, value: AbstractValue, found: AbstractValue) -> AbstractValue:
    """Return what a test finds an unknown value to be; the methods of a module work on tensors of the GPU."""
    if value is not BOTTOM or found.kind is not Kind.TENSOR or not works_where_its_module_is(at.function):
        return found
    if not at.assume():
        return found
    at.origin("{} is a tensor, and no code found places the tensor on the CPU")
    return refine(found, device=Device.CUDA, confidence=Confidence.INFERRED)


def _of_classes(at: Point, value: AbstractValue, wanted: list[Class], *, holds: bool) -> AbstractValue:
    """Return a value refined to instances of these project classes, or to all other options."""
    options = value.items if value.kind is Kind.UNION and value.items else (value,)
    inside = [
        option
        for option in options
        if isinstance(option.payload, Class) and any(cls in option.payload.mro() for cls in wanted)
    ]
    if not holds:
        return join_all([option for option in options if option not in inside])
    if not inside and not at.stays_open():
        return BOTTOM
    return join_all(inside or [AbstractValue(Kind.INSTANCE, payload=cls) for cls in wanted])
