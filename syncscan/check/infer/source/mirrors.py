"""Host arrays that mirror a GPU tensor: the code that writes them, by attribute names alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from syncscan.check.infer.source.index import Function, Module

_SUFFIX = re.compile(r"(_np|_cpu|_host)$")
# What makes a place for something, moves it or gives it up says what is there from then on, once.
_ONCE = re.compile(
    r"__init__|_*(init|add|insert|new|register|create|make|reset|clear|remove|free|release|swap|move|condense|grow)(_.*)?"
)
_MAKERS = frozenset({"zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "array"})


def mirrored(name: str) -> str:
    """Return the name of the tensor that an array of this name mirrors, or ""."""
    return _SUFFIX.sub("", name) if _SUFFIX.search(name) else ""


def advances(function: Function, name: str) -> bool:
    """Return whether a function also adds in place to an attribute of this name."""
    added = [_added(node) for node in ast.walk(function.node)]
    return any(_names(place, name) for place in added if place is not None)


def _added(node: ast.AST) -> ast.AST | None:
    """Return the target of an in-place addition, or None."""
    if isinstance(node, ast.AugAssign):
        return node.target
    function = node.func if isinstance(node, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) and function.attr == "add_" else None


def is_refreshed(modules: Sequence[Module], name: str) -> bool:
    """Return whether code other than ``+=`` may write to an attribute of this name after its creation."""
    return any(
        _refreshes(function.node, name)
        for module in modules
        if module.lines.mention(name)
        for function in module.functions
        if not _ONCE.fullmatch(function.name) and not isinstance(function.node, ast.Module)
    )


def _refreshes(node: ast.AST, name: str) -> bool:
    mirror = _Mirror(name, {alias for each in ast.walk(node) for alias in _aliases(each, name)})
    return any(map(mirror.may_be_written, ast.walk(node)))


@dataclass(frozen=True, slots=True)
class _Mirror:
    """An attribute within a function, with its aliases there."""

    name: str
    aliases: Container[str]

    def may_be_written(self, node: ast.AST) -> bool:
        """Return whether a statement or a call may write to the attribute, other than by ``+=``."""
        if isinstance(node, ast.Assign):
            return self._is_assigned(node)
        if isinstance(node, ast.AugAssign):
            return not isinstance(node.op, ast.Add) and self._is_it_or_part(node.target)
        return isinstance(node, ast.Call) and self._is_given_to(node)

    def _is_assigned(self, node: ast.Assign) -> bool:
        targets = [part for target in node.targets for part in ast.walk(target)]
        if any(isinstance(part, ast.Subscript) and self._is_it(part.value) for part in targets):
            return True
        return any(_is(part, self.name) for part in node.targets) and not _makes(node.value)

    def _is_given_to(self, call: ast.Call) -> bool:
        """Return whether a call passes the attribute, or is a method of it: both may write."""
        if isinstance(call.func, ast.Attribute) and self._is_it_or_part(call.func.value):
            return True
        return any(map(self._is_it, [*call.args, *(keyword.value for keyword in call.keywords)]))

    def _is_it(self, value: ast.AST) -> bool:
        return _is(value, self.name) or (isinstance(value, ast.Name) and value.id in self.aliases)

    def _is_it_or_part(self, value: ast.AST) -> bool:
        return self._is_it(value) or (isinstance(value, ast.Subscript) and self._is_it(value.value))


def _aliases(node: ast.AST, name: str) -> Iterator[str]:
    if isinstance(node, ast.Assign) and _is(node.value, name):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _names(node: ast.AST, name: str) -> bool:
    return any(_is(part, name) for part in ast.walk(node))


def _makes(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in _MAKERS
