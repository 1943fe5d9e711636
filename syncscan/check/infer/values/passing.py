"""What becomes of a value on its way: it crosses functions, is moved, and the steps of its evidence."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace

from syncscan.check.infer.values.basic import INT, NUMBER, STRING
from syncscan.check.infer.values.lattice import union
from syncscan.check.infer.values.steps import Step
from syncscan.model import ON_GPU, UNKNOWN, Confidence, Device, Evidence, Kind, Value


def parts_of(value: Value, levels: int = 2) -> Iterator[Value]:
    """A value, or what it consists of: the options of a union, what a container holds, not what is nested deeper."""
    inside = value.items if value.items is not None else (value.element,) if value.element else None
    if inside is None or not levels:
        yield value
    else:
        for part in inside:
            yield from parts_of(part, levels - 1)


def evidence_in(value: Value) -> Sequence[Evidence | None]:
    """For each part that is or may be on the GPU, why; None where nothing is noted."""
    if value.items is None and value.element is None:
        return (value.evidence,) if value.device in ON_GPU else ()
    return [part.evidence for part in parts_of(value) if part.device in ON_GPU]


def moved(value: Value, device: Device) -> Value:
    """The value with every part that is or may be on the GPU elsewhere."""
    if value.kind is Kind.UNION:
        return union(tuple(moved(option, device) for option in value.items or ()))
    if value.items is not None:
        return replace(value, items=tuple(moved(item, device) for item in value.items))
    if value.element is not None:
        return replace(value, element=moved(value.element, device))
    if value.device in ON_GPU:
        return replace(value, device=device, evidence=None)
    return value


def inferred(value: Value) -> Value:
    """The value as known on the other side of a call, an attribute or a return.

    It was followed through the project, so it is proved no more; and which number or text it was, or that it had no
    elements, is forgotten, for the other side sees many.
    """
    kind = value.kind
    if kind is Kind.NUMBER or kind is Kind.STRING:
        return _forgotten(value)
    if value.items is not None:
        items = tuple(map(inferred, value.items))
        if all(map(operator.is_, items, value.items)):
            return value
        return union(items) if kind is Kind.UNION else replace(value, items=items)
    if value.element is not None:
        element = inferred(value.element)
        return value if element is value.element else replace(value, element=element)
    if value.count == 0:
        value = replace(value, count=None)
    if value.confidence > Confidence.INFERRED and kind in _PLACED:
        return replace(value, confidence=Confidence.INFERRED)
    return value


def _forgotten(value: Value) -> Value:
    payload = value.payload
    if payload is None or payload is True or payload is False:
        return value
    if value.kind is Kind.STRING:
        return value if str(payload).partition(":")[0] in {"cuda", "cpu", "meta"} else STRING
    return INT if value.dtype == "int" else NUMBER


_HOLDERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET})
_PLACED = frozenset({Kind.TENSOR, Kind.MOVED, Kind.DEVICE, Kind.UNION})


_LONGEST = 16  # steps of a chain of evidence; no more of them are shown


def explained(value: Value, path: str, node: ast.AST, text: str, cell: object = None) -> Value:
    """The value of something placed on the GPU, or that holds such, with one more step of evidence, told to a cell."""
    if value.kind is Kind.UNION:
        return union(tuple(explained(item, path, node, text, cell) for item in value.items or ()))
    if value.kind in _HOLDERS:
        return _holder_explained(value, path, node, text, cell)
    if value.device not in ON_GPU or value.kind not in _PLACED:
        return value
    parent = value.evidence
    step = Step(path, node, text, parent, cell)
    if parent is not None and (parent.path, parent.line) == (path, step.line):
        return replace(value, evidence=Step(path, node, parent.text, parent.parent, cell))
    if parent is not None and len(parent.chain()) >= _LONGEST:
        return value
    return replace(value, evidence=step)


def _holder_explained(value: Value, path: str, node: ast.AST, text: str, cell: object) -> Value:
    """The same of what is in a container, but for containers in it."""
    parts = value.items if value.items is not None else (value.element or UNKNOWN,)
    if not any(part.device in ON_GPU for part in parts):
        return value
    parts = tuple(explained(part, path, node, text, cell) for part in parts if part.kind not in _HOLDERS)
    if value.items is None:
        return replace(value, element=parts[0])
    return replace(value, items=parts) if len(parts) == len(value.items) else value
