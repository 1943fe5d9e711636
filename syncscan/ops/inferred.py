"""The facts of `syncscan.ops.kinds`, as far as they are known of an inferred value: true, false, or None for unknown."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol

from syncscan.model import ARRAYS, MASKS, UNKNOWN, ZERO, Device, Kind, without_zero
from syncscan.ops.kinds import Test, TestMakers, Verdict, constants, test_of


class Inferred(Protocol):
    """The interface of a value: one of the vocabulary, or an abstract one; see `syncscan.model.Value`."""

    @property
    def kind(self) -> Kind: ...  # noqa: D102
    @property
    def device(self) -> Device: ...  # noqa: D102
    @property
    def pinned(self) -> bool | None: ...  # noqa: D102
    @property
    def dtype(self) -> str | None: ...  # noqa: D102
    @property
    def ndim(self) -> int | None: ...  # noqa: D102
    @property
    def payload(self) -> Any: ...  # noqa: D102
    @property
    def items(self) -> Sequence[Inferred] | None: ...  # noqa: D102
    @property
    def element(self) -> Inferred | None: ...  # noqa: D102
    @property
    def options(self) -> Sequence[Inferred]: ...  # noqa: D102
    @property
    def is_host_data(self) -> bool: ...  # noqa: D102


_WHAT = {
    "tensor": {Kind.TENSOR},
    "number": {Kind.NUMBER},
    "array": {Kind.NDARRAY},
    "list": {Kind.LIST, Kind.TUPLE, Kind.DICT},
    "slice": {Kind.SLICE},
}
_NOT_KNOWN = {None, ZERO}
_PLACES = {"gpu": Device.CUDA, "host": Device.CPU}


def is_of(kind: str, value: Inferred) -> Verdict:
    """Return whether a value is of a kind; for a union, the verdict that all options share."""
    test = _test_of(kind)
    if value.kind is Kind.UNION:
        verdicts = {test(option) for option in without_zero(value.options)}
        return verdicts.pop() if len(verdicts) == 1 else None
    return test(value)


def device_named(value: Inferred) -> Device:
    """Return the device that a ``device=`` argument names, if any."""
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


def _is(*names: str) -> Test[Inferred]:
    kinds = frozenset().union(*(_WHAT[name] for name in names))
    return lambda value: None if value.kind is Kind.UNKNOWN else value.kind in kinds


def _on(place: str) -> Test[Inferred]:
    device = _PLACES[place]

    def test(value: Inferred) -> Verdict:
        if value.kind is not Kind.TENSOR:
            return _no_other(value)
        if value.device is Device.MIXED:
            return True if device is Device.CUDA else None
        return None if value.device is Device.UNKNOWN else value.device is device

    return test


def _no_other(value: Inferred) -> Verdict:
    """Return the verdict for a value whose kind the fact does not cover."""
    return None if value.kind is Kind.UNKNOWN else False


def _dtype(*names: str) -> Test[Inferred]:
    """Return a test of dtypes; the inference distinguishes bool, uint8, other integers and floats, and knows no widths."""
    possible = {name if name in MASKS else "int" if "int" in name else "float" for name in names}

    def test(value: Inferred) -> Verdict:
        if value.kind not in ARRAYS:
            return _no_other(value)
        if value.dtype is None or value.dtype in possible - MASKS:
            return None
        return value.dtype in possible

    return test


def _dims(count: str) -> Test[Inferred]:
    def test(value: Inferred) -> Verdict:
        if value.kind not in ARRAYS:
            return _no_other(value)
        return None if value.ndim is None else value.ndim == int(count)

    return test


def _length(count: str) -> Test[Inferred]:
    def test(value: Inferred) -> Verdict:
        if value.kind not in _WHAT["list"]:
            return _no_other(value)
        return None if value.items is None else len(value.items) == int(count)

    return test


def _equals(*words: str) -> Test[Inferred]:
    wanted = constants(words)

    def test(value: Inferred) -> Verdict:
        if value.kind not in {Kind.NUMBER, Kind.STRING}:
            return _no_other(value)
        return None if value.payload in _NOT_KNOWN else value.payload in wanted

    return test


def _index() -> Test[Inferred]:
    """Return a test that takes an index for positions, unless the index is known as a mask."""
    return lambda value: (
        not (value.dtype in MASKS or value.ndim == 0) if value.kind is Kind.TENSOR else _no_other(value)
    )


def _unknown_of_tensor() -> Test[Inferred]:
    """Return a test without a verdict on tensors: strides and shapes are not inferred."""
    return lambda value: None if value.kind is Kind.TENSOR else _no_other(value)


def _layout(*names: str) -> Test[Inferred]:
    """Return a test that takes a tensor as dense unless its payload names a layout."""
    return lambda value: _layout_of(value)[0] in names if value.kind is Kind.TENSOR else _no_other(value)


def _coalesced() -> Test[Inferred]:
    def test(value: Inferred) -> Verdict:
        if value.kind is not Kind.TENSOR:
            return _no_other(value)
        layout, *sort = _layout_of(value)
        return "coalesced" in sort if sort or layout != "sparse_coo" else None

    return test


def _layout_of(value: Inferred) -> list[str]:
    """Return the layout of a tensor, and whether it is coalesced if that is known."""
    return value.payload.split() if isinstance(value.payload, str) else ["strided"]


def _memory(sort: str) -> Test[Inferred]:
    def test(value: Inferred) -> Verdict:
        if value.kind is Kind.NDARRAY or (value.kind is Kind.TENSOR and value.device is Device.CPU):
            return None if value.pinned is None else value.pinned is (sort == "pinned")
        return _no_other(value)

    return test


def _true() -> Test[Inferred]:
    return lambda value: (
        bool(value.payload) if value.kind is Kind.NUMBER and value.payload not in _NOT_KNOWN else None
    )


def _module(place: str) -> Test[Inferred]:
    """Return a test of the device of an object; that of a module on the host is known until the module moves."""
    known = {Device.CPU} if place == "host" else {Device.CUDA, Device.MIXED, Device.OTHER}  # it moved
    return lambda value: value.device in known or None if value.kind is Kind.INSTANCE else _no_other(value)


def _names(place: str) -> Test[Inferred]:
    def test(value: Inferred) -> Verdict:
        named = device_named(value)
        if named is Device.MIXED:  # the GPU for some callers, as for a tensor of several places
            return True if place == "gpu" else None
        return None if named is Device.UNKNOWN else named is _PLACES[place]

    return test


def _holds(what: str, place: str = "") -> Test[Inferred]:
    if what == "host":
        return lambda value: value.is_host_data or None
    return functools.partial(_has_inside, kind_of_element(what, place) if place else what)


def kind_of_element(what: str, place: str) -> str:
    """Return the kind that an element must be of for "holds mask gpu" and the like to hold."""
    there = "cpu" if place == "host" else "gpu"
    return there if what == "tensor" else f"{there} {what}"


def _has_inside(kind: str, value: Inferred) -> Verdict:
    """Return whether a value of a kind is among the elements of a value, at any depth."""
    if value.kind not in {Kind.DICT, Kind.LIST, Kind.TUPLE, Kind.SET, Kind.SLICE}:
        return _no_other(value)
    known = () if value.kind is Kind.SLICE else (value.element or UNKNOWN,)
    inside = [
        verdict for item in value.items or known for verdict in (is_of(kind, item), _has_inside(kind, item))
    ]
    return True if True in inside else None if None in inside else False


FACTS: TestMakers[Inferred] = {
    "is": _is,
    "on": _on,
    "dtype": _dtype,
    "dims": _dims,
    "length": _length,
    "equals": _equals,
    "index": _index,
    "gaps": _unknown_of_tensor,
    "layout": _layout,
    "permuted": _unknown_of_tensor,
    "coalesced": _coalesced,
    "hybrid": _layout,
    "square": _unknown_of_tensor,
    "memory": _memory,
    "true": _true,
    "module": _module,
    "holds": _holds,
    "names": _names,
}


@functools.cache
def _test_of(kind: str) -> Test[Inferred]:
    return test_of(kind, FACTS)
