"""The error for state that cannot be written or read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class NotKeptError(Exception):
    """An object has no serialised form, or data is damaged; the caller falls back to a cold run."""


@contextmanager
def reading() -> Iterator[None]:
    """Raise NotKeptError for any exception that damaged data causes."""
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
