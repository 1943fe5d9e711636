"""The laws of the lattice of abstract values, on values of every kind."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscan.check.infer.domain.crossing import brought_by, crossing, moved
from syncscan.check.infer.domain.lattice import at_most, join, join_all, table_of
from syncscan.check.infer.domain.value import BOTTOM, TOP, AbstractValue, fields_of
from syncscan.model import Confidence, Device, Kind
from tests.infer.drawn import DEFINED, Defined, rising, value

MANY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
LONGEST_CHAIN = 60  # of the height of what the strategy draws: nested unions of a few kinds


@MANY
@given(value, value)
def test_the_order_of_two_does_not_matter(a: AbstractValue, b: AbstractValue) -> None:
    assert join(a, b) is join(b, a)


@MANY
@given(value, value, value)
def test_the_order_of_many_does_not_matter(a: AbstractValue, b: AbstractValue, c: AbstractValue) -> None:
    assert join(join(a, b), c) is join(a, join(b, c))


@MANY
@given(value)
def test_a_value_joined_with_itself_stays(a: AbstractValue) -> None:
    assert join(a, a) is a
    assert AbstractValue(*fields_of(a)) is a


@MANY
@given(value, value)
def test_what_is_known_already_adds_nothing(a: AbstractValue, b: AbstractValue) -> None:
    whole = join(a, b)
    assert at_most(a, whole)
    assert at_most(b, whole)
    assert join(whole, a) is whole


@MANY
@given(value)
def test_nothing_and_anything_are_the_ends(a: AbstractValue) -> None:
    assert join(BOTTOM, a) is join(a, BOTTOM) is a
    assert join(TOP, a) is join(a, TOP) is TOP


@MANY
@given(st.lists(value, max_size=40))
def test_every_chain_that_rises_ends(values: list[AbstractValue]) -> None:
    whole, steps = BOTTOM, 0
    for each in [*values, *values]:
        more = join(whole, each)
        steps += more is not whole
        whole = more
    assert steps <= LONGEST_CHAIN
    assert join_all(reversed(values)) is whole


CROSSINGS = {
    "crossing": crossing,
    "moved to the host": lambda value: moved(value, Device.CPU),
    "moved somewhere": lambda value: moved(value, Device.UNKNOWN),
    "brought by a parameter": lambda value: brought_by(value, frozenset({"x"})),
}


@pytest.mark.parametrize("name", ["crossing", "brought by a parameter"])
@MANY
@given(rising(value))
def test_who_knows_more_sees_more_on_the_other_side(
    name: str, pair: tuple[AbstractValue, AbstractValue]
) -> None:
    less, more = pair
    assert at_most(CROSSINGS[name](less), CROSSINGS[name](more))


@pytest.mark.parametrize("name", CROSSINGS)
@MANY
@given(value)
def test_who_is_there_stays_there(name: str, a: AbstractValue) -> None:
    there = CROSSINGS[name](a)
    assert CROSSINGS[name](there) is there


def test_too_many_options_are_anything() -> None:
    functions = [AbstractValue(Kind.FUNCTION, payload=payload) for payload in DEFINED]
    assert join_all(functions[:6]).kind is Kind.UNION
    assert join_all(functions) is TOP
    classes = [AbstractValue(Kind.CLASS, payload=Defined(str(number))) for number in range(17)]
    assert join_all(classes[:16]).kind is Kind.UNION
    assert join_all(classes) is TOP


def test_a_dictionary_of_too_many_keys_has_one_value_for_all() -> None:
    tensor = AbstractValue(Kind.TENSOR, Device.CPU)

    def keys(first: int, last: int) -> AbstractValue:
        return table_of(dict.fromkeys(range(first, last), tensor))

    a, b, c = keys(0, 20), keys(15, 32), keys(32, 33)
    assert join(a, b).items is not None
    assert join(join(a, b), c) is join(a, join(b, c)) is AbstractValue(Kind.DICT, element=tensor)
    assert join(join(join(a, b), c), keys(0, 1)) is join(join(a, b), c)


def test_a_place_is_as_sure_as_the_paths_that_lead_there() -> None:
    def on(device: Device, confidence: Confidence) -> AbstractValue:
        return AbstractValue(Kind.TENSOR, device, confidence)

    proved, inferred, assumed = (
        on(Device.CUDA, sure) for sure in (Confidence.PROVED, Confidence.INFERRED, Confidence.ASSUMED)
    )
    host = on(Device.CPU, Confidence.PROVED)
    assert join(proved, inferred) is join(proved, assumed) is inferred
    assert join(proved, host) is on(Device.MIXED, Confidence.INFERRED)
    assert join(assumed, host) is on(Device.MIXED, Confidence.ASSUMED)
    assert join(host, on(Device.OTHER, Confidence.PROVED)).device is Device.OTHER
