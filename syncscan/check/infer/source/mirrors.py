"""Host arrays that repeat what a GPU tensor holds: who writes them, by the names of attributes alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from syncscan.check.infer.source.index import Function, Module

_SUFFIX = re.compile(r"(_np|_cpu|_host)$")
# What makes a place for something, moves it or gives it up says what is there from then on, once.
_ONCE = re.compile(
    r"__init__|_*(init|add|insert|new|register|create|make|reset|clear|remove|free|release|swap|move|condense|grow)(_.*)?"
)
_MAKERS = frozenset({"zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "array"})


def mirrored(name: str) -> str:
    """The name of what an array of this name is a mirror of, "" where the name says nothing of that."""
    return _SUFFIX.sub("", name) if _SUFFIX.search(name) else ""


def advances(function: Function, name: str) -> bool:
    """Whether a function adds to an attribute of this name too, in place."""
    added = [_added(node) for node in ast.walk(function.node)]
    return any(_names(place, name) for place in added if place is not None)


def _added(node: ast.AST) -> ast.AST | None:
    """What is added to in place."""
    if isinstance(node, ast.AugAssign):
        return node.target
    function = node.func if isinstance(node, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) and function.attr == "add_" else None


def is_refreshed(modules: Sequence[Module], name: str) -> bool:
    """Whether anything but ``+=`` may write to an attribute of this name once it is there."""
    return any(
        _refreshes(function.node, name)
        for module in modules
        if any(name in line for line in module.lines)
        for function in module.functions
        if not _ONCE.fullmatch(function.name) and not isinstance(function.node, ast.Module)
    )


def _refreshes(node: ast.AST, name: str) -> bool:
    aliases = {alias for each in ast.walk(node) for alias in _aliases(each, name)}

    def is_it(value: ast.AST) -> bool:
        return _is(value, name) or (isinstance(value, ast.Name) and value.id in aliases)

    def is_it_or_part(value: ast.AST) -> bool:
        return is_it(value) or (isinstance(value, ast.Subscript) and is_it(value.value))

    for each in ast.walk(node):
        if isinstance(each, ast.Assign):
            targets = [part for target in each.targets for part in ast.walk(target)]
            if any(isinstance(part, ast.Subscript) and is_it(part.value) for part in targets):
                return True
            if any(_is(part, name) for part in each.targets) and not _makes(each.value):
                return True
        if (
            isinstance(each, ast.AugAssign)
            and not isinstance(each.op, ast.Add)
            and is_it_or_part(each.target)
        ):
            return True
        if isinstance(each, ast.Call):
            if isinstance(each.func, ast.Attribute) and is_it_or_part(each.func.value):
                return True  # a method, which may write
            given = [*each.args, *(keyword.value for keyword in each.keywords)]
            if any(map(is_it, given)):
                return True
    return False


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
