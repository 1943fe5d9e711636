"""The data of others is taken only in the shape that it must have, and what is wrong is named, not quoted."""

from __future__ import annotations

import pytest

from syncscan.trace import shape
from syncscan.trace.shape import Mismatch

POINT = shape.record(x=shape.integer, name=shape.optional(shape.text))


@pytest.mark.parametrize(
    ("known", "value"),
    [
        (shape.integer, 0),
        (shape.integer, 2**63 - 1),
        (shape.number, 0.5),
        (shape.number, 3),
        (shape.text, "\ud800"),
        (shape.boolean, False),
        (shape.optional(shape.integer), None),
        (shape.list_of(shape.integer), [1, 2]),
        (shape.row(shape.integer, shape.text), [1, "a"]),
        (shape.map_of(shape.integer), {"a": 1}),
        (POINT, {"x": 1, "name": None}),
        (shape.anything, [{}]),
    ],
)
def test_what_fits_comes_back(known, value):
    assert known(value) == value


@pytest.mark.parametrize(
    ("known", "value", "message"),
    [
        (shape.integer, -1, "not a whole number from 0 on"),
        (shape.integer, 2**63, "not a whole number from 0 on"),
        (shape.integer, True, "not a whole number from 0 on"),
        (shape.integer, 1.0, "not a whole number from 0 on"),
        (shape.integer, "1", "not a whole number from 0 on"),
        (shape.number, -0.5, "not a number from 0 on"),
        (shape.number, float("nan"), "not a number from 0 on"),
        (shape.number, float("inf"), "not a number from 0 on"),
        (shape.number, True, "not a number from 0 on"),
        (shape.text, None, "not a text"),
        (shape.boolean, 1, "neither true nor false"),
        (shape.list_of(shape.text), {}, "not a list"),
        (shape.list_of(shape.text), ["a", "b", 3], "[2]: not a text"),
        (shape.row(shape.text, shape.text), ["a"], "not a list of 2 values"),
        (shape.row(shape.text, shape.text), ["a", 1], "[1]: not a text"),
        (shape.map_of(shape.text), [], "not an object"),
        (shape.map_of(shape.text), {"secret": 1}, "[0]: not a text"),
        (shape.by_number(shape.text), {"٣": "a"}, "not named by numbers"),
        (shape.by_number(shape.text), {"9" * 5000: "a"}, "not named by numbers"),
        (shape.by_number(shape.text, largest=511), {"512": "a"}, "not named by numbers"),
        (POINT, [], "not an object"),
        (POINT, {"name": None}, "x: missing"),
        (shape.map_of(shape.list_of(POINT)), {"a": [{"x": 1, "name": 2}]}, "[0][0].name: not a text"),
    ],
)
def test_what_does_not_fit_is_named_by_its_place(known, value, message):
    with pytest.raises(Mismatch) as caught:
        known(value)
    assert str(caught.value) == message


def test_an_object_comes_back_with_the_known_fields_alone():
    assert POINT({"x": 1, "name": "a", "more": {}}) == {"x": 1, "name": "a"}
    assert shape.by_number(shape.text)({"7": "a"}) == {7: "a"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON or cut short"),
        (b"{", "not JSON or cut short"),
        (b'"\xff"', "not JSON or cut short"),
        (b"[" * 200_000, "not JSON or cut short"),
        (b"9" * 400, "a number out of bounds"),
        (b"NaN", "a number out of bounds"),
        (b"-Infinity", "a number out of bounds"),
        (b"[" + b"1," * shape.MAX_VALUES + b"1]", "more than 5,000,000 values"),
    ],
)
def test_only_json_within_bounds_is_parsed(data, message):
    with pytest.raises(Mismatch) as caught:
        shape.parse(data)
    assert str(caught.value) == message
