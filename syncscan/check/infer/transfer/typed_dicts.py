"""Items of a ``TypedDict``, and of objects of a subclass of a dictionary: the item of a text is the attribute of that name.

Subclasses of a dictionary count if they give access by both, as ``output["loss"]`` and ``output.loss``.
"""

from __future__ import annotations

from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.attributes import stored_in
from syncscan.check.infer.transfer.point import Point
from syncscan.check.infer.transfer.storing import store_attribute
from syncscan.model import Kind


def of_table(at: Point, base: AbstractValue, key: AbstractValue) -> AbstractValue | None:
    """Return the value of a table under a key; None for other bases, and for classes with a method of their own for it."""
    if not _is_table(at, base, "__getitem__"):
        return None
    name, cls = key.payload, base.payload
    if not isinstance(name, str):
        return BOTTOM
    return at.attribute(base, name) if _is_typed(cls) else stored_in(at, cls, name)


def store_in_table(at: Point, base: AbstractValue, key: AbstractValue, value: AbstractValue) -> None:
    """Contribute what ``base[key] = value`` puts into a table; nothing for other bases, and for those that declare their keys."""
    if isinstance(key.payload, str) and _is_table(at, base, "__setitem__") and not _is_typed(base.payload):
        store_attribute(at, base.payload, key.payload, value)


def _is_table(at: Point, value: AbstractValue, method: str) -> bool:
    """Return whether a value is a table whose class leaves an operation on items to the dictionary, and gives items as attributes."""
    cls = value.payload if value.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class) or not cls.is_table:
        return False
    at.asks(cls, method)
    at.asks(cls, "__getattr__")
    return not cls.overrides(method) and (_is_typed(cls) or _gives_attributes(cls))


def _gives_attributes(cls: Class) -> bool:
    """Return whether a class gives what is not an attribute by a method of its own."""
    return any("__getattr__" in each.methods or "__getattr__" in each.stored for each in cls.mro())


def _is_typed(cls: Class) -> bool:
    """Return whether a class declares the keys of its tables."""
    return any(base.endswith(".TypedDict") for each in cls.mro() for base in each.external_bases)
