"""Whether two values are the same to the last step of their evidence, which `==` passes over."""

from __future__ import annotations

from syncscan.check.infer.values.callables import BoundMethod, Partial
from syncscan.model import Evidence, Value


def identical(a: object, b: object) -> bool:
    """Whether two facts are the same, evidence included."""
    if a is b:
        return True
    if not isinstance(a, Value) or not isinstance(b, Value):
        return a == b
    return a == b and _same_steps(a.evidence, b.evidence) and all(map(identical, _inside(a), _inside(b)))


def _same_steps(a: Evidence | None, b: Evidence | None) -> bool:
    while a is not b:
        if a is None or b is None or (a.path, a.line, a.text) != (b.path, b.line, b.text):
            return False
        a, b = a.parent, b.parent
    return True


def _inside(value: Value) -> tuple[Value, ...]:
    """The values in a value, of which two equal ones have equally many."""
    inside = (*(value.items or ()), *([] if value.element is None else [value.element]))
    payload = value.payload
    return (*inside, *payload.inside) if isinstance(payload, (BoundMethod, Partial)) else inside
