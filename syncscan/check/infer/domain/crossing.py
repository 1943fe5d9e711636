"""Values across a call, an attribute or a return, and values transferred to another device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final

from syncscan.check.infer.domain.basic import INT, NUMBER, STRING, is_module
from syncscan.check.infer.domain.lattice import with_items
from syncscan.check.infer.domain.value import AbstractValue, Via, refine
from syncscan.model import ON_GPU, ZERO, Confidence, Device, Kind, is_zero


def parts_of(value: AbstractValue, levels: int = 2) -> Iterator[AbstractValue]:
    """Yield the parts of a value: the options of a union and the elements of containers, down to ``levels`` levels."""
    inside = value.items if value.items is not None else (value.element,) if value.element else None
    if inside is None or not levels:
        yield value
    else:
        for part in inside:
            yield from parts_of(part, levels - 1)


@functools.cache
def parts_on_gpu(value: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return each part of a value that is or may be on the GPU."""
    if not value.holds_gpu:
        return ()
    return tuple([part for part in parts_of(value) if part.device in ON_GPU])


def _with_parts(value: AbstractValue, change: Callable[[AbstractValue], AbstractValue]) -> AbstractValue:
    """Return a union or a container with each of its parts changed."""
    if value.items is not None:
        return with_items(value, [change(part) for part in value.items])
    return value if value.element is None else refine(value, element=change(value.element))


@functools.cache
def moved(value: AbstractValue, device: Device) -> AbstractValue:
    """Return the value after a transfer of its GPU parts to ``device``.

    The confidence of a value on several devices is that of the path on the GPU. In host memory the other path counts
    as well, which may be surer.
    """
    if value.items is not None or value.element is not None:
        return _with_parts(value, lambda part: moved(part, device))
    if value.device not in ON_GPU:
        return refine(value, via=None) if value.via is not None else value
    sure = Confidence.INFERRED if value.device is Device.MIXED and device in _HOST else value.confidence
    return refine(value, device=device, confidence=sure, via=None)


@functools.cache
def on_gpu(value: AbstractValue) -> AbstractValue:
    """Return the value with its tensors on the GPU, wherever they were made."""
    if value.items is not None or value.element is not None:
        return _with_parts(value, on_gpu)
    return (
        refine(value, device=Device.CUDA, confidence=Confidence.INFERRED) if value.kind in _TENSORS else value
    )


@functools.cache
def without_via(value: AbstractValue) -> AbstractValue:
    """Return the value without the parameters that put it or its contents on the GPU."""
    if value.items is not None or value.element is not None:
        return _with_parts(value, without_via)
    return refine(value, via=None) if value.via is not None else value


@functools.cache
def without_host(value: AbstractValue) -> AbstractValue:
    """Return the value with its tensors in host memory on an unknown device."""
    if value.items is not None or value.element is not None:
        return _with_parts(value, without_host)
    is_on_host = value.kind in _TENSORS and value.device in _HOST
    return refine(value, device=Device.UNKNOWN) if is_on_host else value


_HOST: Final = frozenset({Device.CPU, Device.OTHER})
_TENSORS: Final = frozenset({Kind.TENSOR, Kind.MOVED})


@functools.cache
def copied(value: AbstractValue, device: Device) -> AbstractValue:
    """Return the value after an assumed copy of its tensors to ``device``."""
    if value.items is not None or value.element is not None:
        return _with_parts(value, lambda part: copied(part, device))
    return refine(value, device=device, confidence=Confidence.ASSUMED) if value.kind is Kind.TENSOR else value


@functools.cache
def crossing(value: AbstractValue) -> AbstractValue:
    """Return the value as seen on the other side of a call, an attribute or a return.

    The confidence drops to INFERRED. Constants are forgotten, because the other side sees many values. That a new module
    is on the host is forgotten too: the other side may see it after a move.
    """
    if value.items is not None or value.element is not None:
        return _with_parts(value, crossing if value.kind is Kind.UNION else _item_crossing)
    if value.device in _HOST and is_module(value):
        value = refine(value, device=Device.UNKNOWN, confidence=Confidence.PROVED)
    return returned(value)


@functools.cache
def _item_crossing(value: AbstractValue) -> AbstractValue:
    """Return an item of a container in the same way; a zero there is no beginning of a sum."""
    if value.items is not None or value.element is not None:
        return _with_parts(value, _item_crossing)
    return _forgotten(value) if value.kind is Kind.NUMBER else crossing(value)


@functools.cache
def returned(value: AbstractValue) -> AbstractValue:
    """Return the value as seen by the callers of the function that returns the value: a new module is still on the host."""
    kind = value.kind
    if kind is Kind.NUMBER and is_zero(value):
        return refine(value, payload=ZERO)
    if kind is Kind.UNION:
        return _with_parts(value, returned)
    return _item_returned(value)


@functools.cache
def _item_returned(value: AbstractValue) -> AbstractValue:
    """Return an item in the same way, see `_item_crossing`."""
    kind = value.kind
    if kind is Kind.NUMBER or kind is Kind.STRING:
        return _forgotten(value)
    if value.items is not None or value.element is not None:
        return _with_parts(value, _item_returned)
    if kind in _PLACED:
        return refine(value, confidence=min(value.confidence, Confidence.INFERRED), via=None)
    return refine(value, via=None) if value.via is not None else value


def _forgotten(value: AbstractValue) -> AbstractValue:
    payload = value.payload
    if payload is None or payload is True or payload is False:
        return value
    if value.kind is Kind.STRING:
        return value if str(payload).partition(":")[0] in {"cuda", "cpu", "meta"} else STRING
    return INT if value.dtype == "int" else NUMBER


_PLACED: Final = frozenset({Kind.TENSOR, Kind.MOVED, Kind.DEVICE, Kind.UNION})


@functools.cache
def brought_by(value: AbstractValue, via: Via) -> AbstractValue:
    """Return the value with the parameters ``via`` as the reason for its GPU parts and its devices."""
    if value.items is not None or value.element is not None:
        return _with_parts(value, lambda part: brought_by(part, via))
    return refine(value, via=via) if value.kind is Kind.DEVICE or value.device in ON_GPU else value
