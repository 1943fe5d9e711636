"""What the name of a tensor says where nothing else does; asked only once all else has been followed."""

from __future__ import annotations

import ast
import operator
from dataclasses import replace

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.source.conventions import dtype_of
from syncscan.check.infer.values.basic import NDARRAY, refine
from syncscan.check.infer.values.lattice import union
from syncscan.check.infer.values.steps import Step
from syncscan.model import UNKNOWN, Confidence, Device, Kind, Value


def named(frame: Frame, value: Value, name: str) -> Value:
    """What the name of an attribute or variable tells where nothing else does."""
    kind, device = (
        value.kind,
        value.device,
    )  # most are settled by these; this is asked of every name that is read
    if (kind is not Kind.UNKNOWN and kind is not Kind.TENSOR) or value.payload is not None:
        return _any_named(frame, value, name) if kind is Kind.UNION and device is Device.MIXED else value
    if device is not Device.UNKNOWN and device is not Device.MIXED:
        return value
    if name in frame.module.kept:
        return refine(
            value, kind=Kind.TENSOR, device=Device.CPU, confidence=Confidence.INFERRED, evidence=None
        )
    place = frame.context.place_of(name)
    if place is Device.UNKNOWN:
        return value
    if device is Device.MIXED:  # the name agrees with one of the paths
        return refine(value, device=place, evidence=value.evidence if place is Device.CUDA else None)
    return _as_it_is_named(frame, value, name, place) if frame.assume() else value


def _any_named(frame: Frame, value: Value, name: str) -> Value:
    """What may be one of several, which a name that says host decides."""
    if frame.context.place_of(name) is not Device.CPU:
        return value
    return union(tuple(named(frame, option, name) for option in value.options))


def _as_it_is_named(frame: Frame, value: Value, name: str, place: Device) -> Value:
    if place is Device.CPU:
        return _on_the_host(value, name)
    return refine(
        value,
        kind=Kind.TENSOR,
        device=Device.CUDA,
        confidence=Confidence.ASSUMED,
        evidence=frame.evidence(frame.function.node, f"`{name}` is named so"),
    )


def _on_the_host(value: Value, name: str) -> Value:
    if value.kind is Kind.TENSOR or name.endswith("cpu"):
        return refine(value, kind=Kind.TENSOR, device=Device.CPU, confidence=Confidence.ASSUMED)
    return NDARRAY if name.endswith("_np") else value


_HOLDERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT})


def _assumed_inside(
    frame: Frame, value: Value, name: str, path: str, node: ast.AST, confidence: Confidence
) -> Value:
    """A container of tensors of unknown place, such as a parameter that is said to be a ``list[Tensor]``."""
    if value.items is not None:
        items = tuple(assumed_tensor(frame, item, name, path, node, confidence) for item in value.items)
        return value if all(map(operator.is_, items, value.items)) else replace(value, items=items)
    if value.element is None or value.element is UNKNOWN:
        return value
    element = assumed_tensor(frame, value.element, name, path, node, confidence)
    return value if element is value.element else replace(value, element=element)


def assumed_tensor(
    frame: Frame,
    value: Value,
    name: str,
    path: str,
    node: ast.AST,
    confidence: Confidence = Confidence.ASSUMED,
) -> Value:
    """A tensor of unknown place, such as an annotated parameter that nobody is seen to pass."""
    if value.kind is Kind.UNION:
        options = value.items or ()
        assumed = tuple(assumed_tensor(frame, option, name, path, node, confidence) for option in options)
        return value if all(map(operator.is_, assumed, options)) else union(assumed)
    if value.kind in _HOLDERS:
        return _assumed_inside(frame, value, name, path, node, confidence)
    is_open = value.kind is Kind.TENSOR and value.device is Device.UNKNOWN
    if not is_open or name in frame.module.kept:
        return named(frame, value, name)
    if not frame.assume():
        return value
    if frame.context.place_of(name) is Device.CPU:
        return refine(value, device=Device.CPU, confidence=Confidence.ASSUMED)
    evidence = Step(path, node, f"`{name}` is a tensor, and nothing places it on the CPU")
    dtype = value.dtype or dtype_of(name)
    return refine(value, device=Device.CUDA, confidence=confidence, dtype=dtype, evidence=evidence)
