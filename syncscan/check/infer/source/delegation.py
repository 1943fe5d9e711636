"""Attributes that an object gets from another one: ``def __getattr__(self, name): return getattr(self.module, name)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import last_name, walk


class Delegate(NamedTuple):
    """The attribute of an object that answers for names which the object has not, and whether it has them as keys."""

    attribute: str
    by_key: bool


def delegates(getter: Function) -> tuple[Delegate, ...]:
    """Return what a method ``__getattr__`` hands the name on to: attributes, or tables under whose keys it looks."""
    if len(getter.plain) != 2:
        return ()
    own, name = (parameter.name for parameter in getter.plain)
    return tuple(dict.fromkeys(_delegates(getter.node, own, name)))


def _delegates(method: ast.AST, own: str, name: str) -> Iterator[Delegate]:
    for node in walk(method):
        holder, by_key = None, False
        if isinstance(node, ast.Subscript) and _is(node.slice, name):
            holder, by_key = node.value, True
        elif isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
            holder = node.args[0] if _is(node.args[1], name) else None
        if isinstance(holder, ast.Attribute) and _is(holder.value, own):
            yield Delegate(holder.attr, by_key)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
