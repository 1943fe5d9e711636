"""The parts of modules in the source of functions: the parameters that an initialiser keeps, and moves in place."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import NO_NAMES, Function
from syncscan.check.infer.source.syntax import dotted_name, walk

_IN_PLACE = frozenset({"to", "cuda", "to_empty", "_apply"})


def kept_parameters(initialiser: Function) -> frozenset[str]:
    """Return the parameters of an initialiser that become attributes, as in ``self.inner = inner``."""
    stores = (node for node in walk(initialiser.node) if isinstance(node, ast.Assign))
    found = [
        node.value.id
        for node in stores
        if isinstance(node.value, ast.Name) and any(isinstance(each, ast.Attribute) for each in node.targets)
    ]
    return frozenset(found) or NO_NAMES


def moves_in_place(function: Function) -> bool:
    """Return whether a function may move a module that has a name: ``self.inner.to(device)``."""
    calls = (node.func for node in walk(function.node) if isinstance(node, ast.Call))
    return any(
        isinstance(called, ast.Attribute) and called.attr in _IN_PLACE and dotted_name(called.value) != ""
        for called in calls
    )
