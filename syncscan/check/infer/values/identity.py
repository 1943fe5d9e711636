"""Whether two values are the same to the last step of their evidence, which `==` passes over."""

from __future__ import annotations

import ast

from syncscan.check.infer.values.callables import BoundMethod, Partial
from syncscan.check.infer.values.steps import Step
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
        if isinstance(a, Step) and isinstance(b, Step) and not _same_node(a.node, b.node):
            return False
        a, b = a.parent, b.parent
    return True


def _same_node(a: object, b: object) -> bool:
    """Whether two nodes at one place will be at one place after any edit; of one that is not at hand, nothing will be asked then."""
    return a is b or not isinstance(a, ast.AST) or not isinstance(b, ast.AST)


def _inside(value: Value) -> tuple[Value, ...]:
    """The values in a value, of which two equal ones have equally many."""
    inside = (*(value.items or ()), *([] if value.element is None else [value.element]))
    payload = value.payload
    return (*inside, *payload.inside) if isinstance(payload, (BoundMethod, Partial)) else inside
