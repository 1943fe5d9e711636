"""Items of a ``TypedDict``."""

from __future__ import annotations

from syncscan.check.infer.domain.value import BOTTOM, AbstractValue
from syncscan.check.infer.source.index import Class
from syncscan.check.infer.transfer.point import Point
from syncscan.model import Kind


def of_table(at: Point, base: AbstractValue, key: AbstractValue) -> AbstractValue | None:
    """Return the value of a ``TypedDict`` under a key; None for other bases."""
    cls = base.payload if base.kind is Kind.INSTANCE else None
    if not isinstance(cls, Class) or not cls.is_table:
        return None
    return at.attribute(base, key.payload) if isinstance(key.payload, str) else BOTTOM
