"""The suggestion for what an object holds in host memory, and copies to the GPU in each call: a copy that stays there."""

from __future__ import annotations

import ast

from syncscan.model import Kind
from syncscan.rule import Facts

from ._parts import attribute_behind, calls_in
from ._shared import given
from ._suggestions import suggest

_SLOTS = frozenset({Kind.LIST, Kind.DICT})  # keep what is stored; a tensor copies it back to its own memory


def of_an_attribute(call: ast.Call, source: ast.Name | ast.Attribute, facts: Facts) -> str:
    """Return the suggestion for an attribute of `self` that a call copies."""
    name, copy = facts.source(source), _copy_of(source, call, facts)
    return suggest("buffer" if facts.in_module(call) else "kept-copy", source=name, copy=copy)


def of_a_part(call: ast.Call, source: ast.expr, facts: Facts) -> str:
    """Return the suggestion for an element, a part or a copy of an attribute, through names; "" for other sources."""
    if facts.function(call).endswith("__init__"):
        return ""
    element = _of_an_element(call, source, facts) if isinstance(source, ast.Subscript) else ""
    held = attribute_behind(source, call, facts)
    if element or held is None:
        return element
    if facts.in_module(call):
        return suggest("buffer-behind", source=facts.source(held))
    return suggest("kept-copy", source=facts.source(held), copy=_copy_of(held, call, facts))


def _of_an_element(call: ast.Call, source: ast.Subscript, facts: Facts) -> str:
    """Return the suggestion for an element of an attribute that is no tensor of the host; "" for other elements."""
    holder, name = facts.of(source.value), facts.source(source.value)
    is_computed = bool(calls_in(source.slice))  # another element in each call
    if is_computed or not name.startswith("self.") or (holder.kind is Kind.TENSOR and not holder.is_gpu):
        return ""
    row = "held" if holder.kind in _SLOTS else "held-part"
    return suggest(row, source=facts.source(source), holder=name, copy=_copy_of(source, call, facts))


def _copy_of(source: ast.expr, call: ast.Call, facts: Facts) -> str:
    """Return the code of a copy on the GPU that keeps the dtype, which a call may change."""
    device, text = facts.argument(call, "device"), facts.source(source)
    if device is None:
        return f"{text}.cuda()"
    is_tensor = len(given(call)) == 1 and facts.of(device).kind is Kind.TENSOR
    return f"{text}.to({facts.source(device)}{'.device' if is_tensor else ''})"
