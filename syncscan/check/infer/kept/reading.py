"""What an earlier run kept, where that cannot be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class NotKeptError(Exception):
    """Something that has no form as data, or data that is not what was written; all is to be worked out anew then."""


@contextmanager
def reading() -> Iterator[None]:
    """Raise NotKeptError for whatever shows that data is not what was written."""
    try:
        yield
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise NotKeptError("not what was written") from error
