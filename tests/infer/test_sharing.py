"""What is told is one object as often as it is the same, and never where anything tells it apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syncscan.check.infer.values.basic import EMPTY, INT, NONE
from syncscan.check.infer.values.sharing import Shared
from syncscan.model import UNKNOWN, Confidence, Device, Evidence, Kind, Value

WHY = Evidence("a.py", 1, "made there")
ON_GPU = Value(Kind.TENSOR, Device.CUDA, evidence=WHY)


@pytest.mark.parametrize(
    "value",
    [
        ON_GPU,
        Value(Kind.LIST, items=(INT, ON_GPU)),
        Value(Kind.LIST, element=ON_GPU),
        Value(Kind.TUPLE, items=()),
        Value(Kind.STRING, payload="cuda"),
        Value(Kind.UNION, items=(NONE, Value(Kind.TUPLE, items=(ON_GPU,)))),
    ],
    ids=lambda value: value.kind.name,
)
def test_copies_are_one_object(value) -> None:
    shared = Shared()
    first = shared.one(value)
    assert first == value
    assert first.evidence is value.evidence
    copy = replace(value, items=value.items and tuple(map(replace, value.items)))
    assert copy is not value
    assert shared.one(copy) is first
    assert shared.one(first) is first


@pytest.mark.parametrize(
    "other",
    [
        replace(ON_GPU, evidence=Evidence("a.py", 1, "made there")),
        replace(ON_GPU, confidence=Confidence.ASSUMED),
        replace(ON_GPU, pinned=False),
        replace(ON_GPU, ndim=0),
        replace(ON_GPU, dtype="int"),
        replace(ON_GPU, count=0),
        replace(ON_GPU, payload=ON_GPU),
    ],
)
def test_what_anything_tells_apart_is_not(other) -> None:
    shared = Shared()
    first = shared.one(ON_GPU)
    assert shared.one(other) is other
    inside = shared.one(Value(Kind.LIST, items=(other,)))
    assert inside.items[0] is other
    assert shared.one(Value(Kind.LIST, items=(ON_GPU,))).items[0] is first


def test_numbers_that_are_equal_are_not_the_same() -> None:
    shared = Shared()
    shared.one(Value(Kind.NUMBER, dtype="int", payload=1))
    assert shared.one(Value(Kind.NUMBER, dtype="int", payload=True)).payload is True


@pytest.mark.parametrize("value", [UNKNOWN, EMPTY], ids=["unknown", "empty"])
def test_what_evaluators_know_by_identity_stays_apart_from_its_copies(value) -> None:
    shared = Shared()
    copy = replace(value)
    assert shared.one(copy) is copy
    assert shared.one(value) is value
    assert shared.one(copy) is copy


def test_sets_are_one_object() -> None:
    shared = Shared()
    first = shared.one(frozenset({"device"}))
    assert shared.one(frozenset({"device"})) is first
    assert shared.one(frozenset({"where"})) == {"where"}
