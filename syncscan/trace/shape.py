"""The shape of data that others may have written: JSON within bounds, every known field of its type."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from copy import copy
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NoReturn

MAX_VALUES = 5_000_000  # of one JSON text; each takes up to a hundred bytes of memory
_LARGEST = 2**63 - 1
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 20

# Returns the value, with only the declared fields of objects; raises Mismatch if the value has another shape.
Shape = Callable[[Any], Any]


class Mismatch(Exception):  # noqa: N818 (whoever catches it tells the user)
    """A value is not of its shape. It says what is wrong and where, and quotes nothing of the data."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{where.lstrip('.')}: {what}" if where else what)
        self.what = what
        self.where = where


def parse(data: bytes) -> Any:
    """Return the value of a JSON text; Mismatch if it is none, or if it would take too much memory."""
    if len(data) > MAX_VALUES and data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise Mismatch(f"more than {MAX_VALUES:,} values")
    try:
        has_long = _LONG_NUMBER in data.translate(_DIGITS)
        parse_int = _small_number if has_long else None  # a check of each number takes as long again
        return json.loads(data.decode(), parse_int=parse_int, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Mismatch("not JSON or cut short") from None


def _small_number(digits: str) -> int:
    return int(digits) if len(digits) < 20 else _refuse(digits)  # long ones take time


def _refuse(_: str) -> NoReturn:
    raise Mismatch("a number out of bounds")


def anything(value: Any) -> Any:
    """Return a value of any shape."""
    return value


def text(value: Any) -> str:
    """Return a text."""
    if isinstance(value, str):
        return value
    raise Mismatch("not a text")


def integer(value: Any) -> int:
    """Return a whole number from 0 on, of at most 63 bits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
        return value
    raise Mismatch("not a whole number from 0 on")


def number(value: Any) -> float:
    """Return a number from 0 on that is not larger than an `integer`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
        return value
    raise Mismatch("not a number from 0 on")


def boolean(value: Any) -> bool:
    """Return a truth value."""
    if isinstance(value, bool):
        return value
    raise Mismatch("neither true nor false")


def optional(shape: Shape) -> Shape:
    """Return a shape that also accepts null."""
    return lambda value: None if value is None else shape(value)


def list_of(shape: Shape) -> Shape:
    """Return a list of values of one shape."""

    def check(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Mismatch("not a list")
        return value if _surely(shape, value) else _items(value, repeat(shape))

    return check


def row(*shapes: Shape) -> Shape:
    """Return a list of so many values, each of its shape."""

    def check(value: Any) -> list[Any]:
        if not isinstance(value, list) or len(value) != len(shapes):
            raise Mismatch(f"not a list of {len(shapes)} values")
        return _items(value, shapes)

    return check


def map_of(shape: Shape) -> Shape:
    """Return an object with any names, whose values are of one shape."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Mismatch("not an object")
        if _surely(shape, value.values()):
            return value
        return dict(zip(value, _items(value.values(), repeat(shape)), strict=True))

    return check


def by_number(shape: Shape, largest: int = _LARGEST) -> Shape:
    """Return an object whose names are whole numbers up to the largest; gives them back as numbers."""

    def check(value: Any) -> dict[int, Any]:
        named = map_of(shape)(value)
        if not all(
            name.isascii() and name.isdigit() and len(name) < 20 and int(name) <= largest for name in named
        ):
            raise Mismatch("not named by numbers")
        return {int(name): item for name, item in named.items()}

    return check


@dataclass(frozen=True, eq=False)
class Later:
    """A field of `record` that older files of the version lack, and what such a file is taken to say."""

    shape: Shape
    default: Any

    def __call__(self, value: Any) -> Any:
        """Return the value, if its shape fits."""
        return self.shape(value)


def record(**fields: Shape) -> Shape:
    """Return an object with these fields."""
    expected = [(name, shape, _SIMPLE.get(shape)) for name, shape in fields.items()]

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Mismatch("not an object")
        found = {}
        name = ""
        try:
            for name, shape, simple in expected:
                item = value.get(name, _MISSING)
                kind = type(item)
                if kind is simple and (kind is str or 0 <= item <= _LARGEST):  # without a call
                    found[name] = item
                elif item is not _MISSING:
                    found[name] = shape(item)
                elif isinstance(shape, Later):
                    found[name] = copy(shape.default)
                else:
                    raise Mismatch("missing")
        except Mismatch as error:
            raise Mismatch(error.what, f".{name}{error.where}") from None
        return found

    return check


_MISSING: Any = object()
_SIMPLE: dict[Shape, type] = {text: str, integer: int}


def _surely(shape: Shape, values: Collection[Any]) -> bool:
    """Return whether all values have a simple shape, without a call for each: most of a trace is simple."""
    if shape not in _SIMPLE:
        return False
    types = set(map(type, values))
    if shape is text:
        return types <= {str}
    return types == {int} and min(values) >= 0 and max(values) <= _LARGEST


def _items(values: Iterable[Any], shapes: Iterable[Shape]) -> list[Any]:
    """Return the values of a list, each checked against its shape."""
    found: list[Any] = []
    try:
        found.extend(shape(value) for value, shape in zip(values, shapes, strict=False))
    except Mismatch as error:
        raise Mismatch(error.what, f"[{len(found)}]{error.where}") from None
    return found
