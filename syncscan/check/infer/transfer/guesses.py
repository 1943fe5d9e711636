"""Assumptions from the names of values, made only after all other evidence."""

from __future__ import annotations

import ast

from syncscan.check.infer.dataflow.needs import UsedSlots
from syncscan.check.infer.domain.basic import LOADER, NDARRAY, NONE, TENSOR
from syncscan.check.infer.domain.lattice import join, join_all, with_items, without_none
from syncscan.check.infer.domain.value import BOTTOM, AbstractValue, refine
from syncscan.check.infer.source.conventions import dtype_of, is_loader, is_loss
from syncscan.check.infer.source.index import Module
from syncscan.check.infer.transfer.modules import works_where_its_module_is
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Confidence, Device, Kind


def named(at: Point, value: AbstractValue, name: str) -> AbstractValue:
    """Return a value refined by the name of its attribute or variable, where its device is otherwise unknown or ambiguous."""
    kind, device = (
        value.kind,
        value.device,
    )  # most are settled by these; this is asked of every name that is read
    if (kind is not Kind.UNKNOWN and kind is not Kind.TENSOR) or value.payload is not None:
        return _any_named(at, value, name) if kind is Kind.UNION and device is not Device.UNKNOWN else value
    if device is not Device.UNKNOWN and device is not Device.MIXED:
        return _placed_and_named(at, value, name)
    if name in at.module.kept:
        if not at.declare():
            return value
        return refine(value, kind=Kind.TENSOR, device=Device.CPU, confidence=Confidence.INFERRED, via=None)
    place = at.context.place_of(name)
    if place is Device.UNKNOWN:
        return _by_its_name(at, value, name)
    if device is Device.MIXED:  # the name agrees with one of the paths
        return on_one_path(value, place)
    return _as_it_is_named(at, value, name, place) if at.assume() else value


def _by_its_name(at: Point, value: AbstractValue, name: str) -> AbstractValue:
    """Return a loader for what is named so, and a loss on the GPU."""
    if value.kind is Kind.UNKNOWN:
        return LOADER if is_loader(name) and at.assume() else value
    if value.device is not Device.UNKNOWN or not is_loss(name) or not at.assume():
        return value
    return _loss(at, value, name)


def _loss(at: Point, value: AbstractValue, name: str) -> AbstractValue:
    if at.number in at.context.uses(at.state).brought or _gets_host_tensors(at):
        return value
    at.origin(f"`{name}` is a loss, and no code found computes the loss on the CPU", node=at.function.node)
    return refine(value, device=Device.CUDA, confidence=Confidence.INFERRED)


def _placed_and_named(at: Point, value: AbstractValue, name: str) -> AbstractValue:
    """Return a value of known device; while other paths may still disagree with the name, the device stays unknown."""
    if value.confidence is Confidence.ASSUMED and value.device is Device.CUDA and is_loss(name):
        return _loss(at, value, name)
    place = Device.UNKNOWN if name in at.module.kept else at.context.place_of(name)
    if place is Device.UNKNOWN or value.device is place:
        return value
    if not at.stays_open():
        return refine(value, device=Device.UNKNOWN, pinned=None, via=None)
    is_assumed = place is Device.CPU and value.confidence is Confidence.ASSUMED
    return refine(value, device=place, via=None) if is_assumed else value  # a name against an assumption


def on_one_path(value: AbstractValue, device: Device) -> AbstractValue:
    """Return a tensor of several devices on the path where it is on ``device``."""
    if device is Device.CUDA:
        return refine(value, device=device)
    return refine(value, device=device, confidence=Confidence.INFERRED, via=None)


def _promises_place(at: Point, name: str) -> bool:
    """Return whether the name of an attribute or variable says where its value is, or what a loader of batches yields."""
    is_placed = name in at.module.kept or at.context.place_of(name) is not Device.UNKNOWN
    return is_placed or is_loader(name) or is_loss(name)


def _any_named(at: Point, value: AbstractValue, name: str) -> AbstractValue:
    """Return a union refined by a name that promises the host."""
    if at.context.place_of(name) is not Device.CPU:
        return value
    return join_all([named(at, each, name) if each.device in _PLACES else each for each in value.items or ()])


_PLACES = frozenset({Device.CPU, Device.CUDA, Device.MIXED, Device.OTHER})


def _as_it_is_named(at: Point, value: AbstractValue, name: str, place: Device) -> AbstractValue:
    if place is Device.CPU:
        return _on_the_host(value, name)
    at.origin(f"the name `{name}` promises the GPU", node=at.function.node)
    return refine(value, kind=Kind.TENSOR, device=Device.CUDA, confidence=Confidence.ASSUMED)


def _on_the_host(value: AbstractValue, name: str) -> AbstractValue:
    if value.kind is Kind.TENSOR or name.endswith("cpu"):
        return refine(value, kind=Kind.TENSOR, device=Device.CPU, confidence=Confidence.ASSUMED)
    return NDARRAY if name.endswith("_np") else value


def by_use(at: Point, value: AbstractValue) -> AbstractValue:
    """Return a tensor on the GPU for an unknown value, or a tensor of unknown device, that the code uses as a tensor.

    A value that the code copies to the host is on the GPU, or nobody would write the copy. A training step
    works on the GPU.
    """
    present = without_none(value)
    if present is not BOTTOM and not _is_open(present):
        return value
    uses = at.context.uses(at.state)
    if at.number not in uses.tensors or not at.use():
        return value
    if at.number in uses.losses and _gets_host_tensors(at):
        return value
    if at.site is not None and at.site.attribute in {"cpu", "to"}:
        return AbstractValue(Kind.TENSOR, Device.CPU, Confidence.ASSUMED) if value is BOTTOM else value
    reason, confidence = _reason_for_gpu(at, uses)
    at.origin(reason)
    tensor = refine(
        present if present.kind is Kind.TENSOR else TENSOR, device=Device.CUDA, confidence=confidence
    )
    return tensor if present is value else join(NONE, tensor)


def _reason_for_gpu(at: Point, uses: UsedSlots) -> tuple[str, Confidence]:
    """Return why a value that is used as a tensor is on the GPU, and how sure that is."""
    if at.number in uses.downloaded:
        return "{} is copied to the CPU, so the source is on the GPU", Confidence.INFERRED
    if at.number in uses.losses:
        return "{} is a loss, and no code found computes the loss on the CPU", Confidence.INFERRED
    if uses.trains:
        return "{} is used as a tensor in a training step, which works on the GPU", Confidence.INFERRED
    used = "{} is used as a tensor, and no code found places the tensor on the CPU"
    if at.number in uses.given and works_where_its_module_is(at.function) and not _loads(at.function.name):
        return used.replace("tensor,", "tensor in a method of a module,"), Confidence.INFERRED
    return used, Confidence.ASSUMED


def _gets_host_tensors(at: Point) -> bool:
    """Return whether a call gets tensors of the host, and none of the GPU."""
    given = [at.state.values[slot] for slot in at.state.ir.operands[at.number] if slot >= 0]
    return any(map(_is_on_host, given)) and not any(each.holds_gpu for each in given)


def _is_on_host(value: AbstractValue) -> bool:
    return value.kind in {Kind.TENSOR, Kind.MOVED} and value.device is Device.CPU


def _loads(name: str) -> bool:
    """Return whether a method reads a state from files, which is on the host."""
    return "load" in name or "state_dict" in name


def _is_open(value: AbstractValue) -> bool:
    return value.kind is Kind.TENSOR and value.device is Device.UNKNOWN


_HOLDERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT})


IS_TENSOR = "`{}` is a tensor, and no code found places the tensor on the CPU"


def assumed_tensor(
    at: Point,
    value: AbstractValue,
    name: str,
    confidence: Confidence,
    where: tuple[Module, ast.AST],
    text: str = IS_TENSOR,
) -> AbstractValue:
    """Return a value with its tensors of unknown device assumed on the GPU, unless their names promise the host.

    An annotated parameter without callers has such a tensor. ``where`` and ``text`` are its evidence: an
    annotation or function in a module.
    """
    if not value.holds_unplaced and not _promises_place(at, name):
        return value
    if value.kind is Kind.UNION:
        return join_all(_assumed_each(at, value.items or (), name, confidence, where, text))
    if value.kind in _HOLDERS:
        return _assumed_inside(at, value, name, confidence, where)
    if not _is_open(value) or name in at.module.kept:
        return named(at, value, name)
    if not at.assume():
        return value
    if at.context.place_of(name) is Device.CPU:
        return refine(value, device=Device.CPU, confidence=Confidence.ASSUMED)
    at.origin(text.format(name), *where)
    return refine(value, device=Device.CUDA, confidence=confidence, dtype=value.dtype or dtype_of(name))


def _assumed_inside(
    at: Point, value: AbstractValue, name: str, confidence: Confidence, where: tuple[Module, ast.AST]
) -> AbstractValue:
    """Return a container with its tensors of unknown device assumed, as for a parameter of type ``list[Tensor]``."""
    if value.items is not None:
        return with_items(value, _assumed_each(at, value.items, name, confidence, where, IS_TENSOR))
    if value.element is None or value.element is BOTTOM:
        return value
    return refine(value, element=assumed_tensor(at, value.element, name, confidence, where))


def _assumed_each(
    at: Point,
    values: tuple[AbstractValue, ...],
    name: str,
    confidence: Confidence,
    where: tuple[Module, ast.AST],
    text: str,
) -> list[AbstractValue]:
    """Return each of some values as `assumed_tensor` does; most of them hold no tensor without a place."""
    promised = _promises_place(at, name)
    return [
        assumed_tensor(at, each, name, confidence, where, text) if promised or each.holds_unplaced else each
        for each in values
    ]
