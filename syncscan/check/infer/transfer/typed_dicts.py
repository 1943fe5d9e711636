"""Items of a ``TypedDict``, and of an object of a subclass of a dictionary: one under a text is kept as the attribute of that name.

Such classes often give access by both, as ``output["loss"]`` and ``output.loss``.
"""

from __future__ import annotations

from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import store_attribute
from syncscan.model import Kind


def of_table(at: Point, base: AbstractValue, key: AbstractValue) -> AbstractValue | None:
    """Return the value of a table under a key; None for other bases, and for classes with a method of their own for it."""
    if not _is_table(at, base, "__getitem__"):
        return None
    return at.attribute(base, key.payload) if isinstance(key.payload, str) else BOTTOM


def store_in_table(at: Point, base: AbstractValue, key: AbstractValue, value: AbstractValue) -> None:
    """Contribute what ``base[key] = value`` puts into a table; nothing for other bases."""
    if isinstance(key.payload, str) and _is_table(at, base, "__setitem__"):
        store_attribute(at, base.payload, key.payload, value)


def _is_table(at: Point, value: AbstractValue, method: str) -> bool:
    """Return whether a value is a table whose class leaves an operation on items to the dictionary."""
    cls = value.payload if value.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class) or not cls.is_table:
        return False
    at.asks(cls, method)
    return not cls.overrides(method)
