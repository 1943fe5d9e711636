"""Parameters that select behaviour by their text."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import NO_NAMES, Function
from syncscan.check.infer.source.syntax import last_name, walk
from syncscan.syntax.names import dotted_name


def chosen_by_text(function: Function) -> frozenset[str]:
    """Return the parameters of a private function that the body compares to a text or passes to a private function.

    All callers of a private function are in the project. A text that none of them passes therefore never
    occurs.
    """
    if not is_private(function.name) or function.owner is not None:
        return NO_NAMES
    names = {parameter.name for parameter in function.parameters if not parameter.star}
    found: set[str] = set()
    for node in walk(function.node):
        if compared := compared_text(node):
            found.add(compared[0].id)
        elif isinstance(node, ast.Call) and is_private(last_name(node.func)):
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            found.update(each.id for each in given if isinstance(each, ast.Name))
    return frozenset(found & names) or NO_NAMES


def names_attributes(function: Function) -> frozenset[str]:
    """Return the parameters under whose texts the body sets or reads attributes, as in ``setattr(self, name, value)``.

    ``**kwargs`` is one of them where a method sets an attribute for each keyword.
    """
    names = {parameter.name for parameter in function.parameters if not parameter.star}
    calls = (node for node in walk(function.node) if isinstance(node, ast.Call) and len(node.args) > 1)
    given = [call.args[BY_NAME[name]] for call in calls if (name := last_name(call.func)) in BY_NAME]
    found = {each.id for each in given if isinstance(each, ast.Name) and each.id in names}
    if function.more is not None and function.owner is not None and _sets_each(function, function.more.name):
        found.add(function.more.name)
    return frozenset(found) or NO_NAMES


def _sets_each(function: Function, keywords: str) -> bool:
    """Return whether a method sets an attribute for each of its keywords, as `for name, value in kwargs.items()` with `setattr`."""
    this = function.parameters[0].name
    return any(
        isinstance(loop, ast.For) and _goes_over(loop.iter, keywords) and _sets_its_items(loop, this)
        for loop in walk(function.node)
    )


def _goes_over(node: ast.expr, keywords: str) -> bool:
    return isinstance(node, ast.Call) and dotted_name(node.func) == f"{keywords}.items"


def _sets_its_items(loop: ast.For, this: str) -> bool:
    """Return whether each iteration of a loop sets the attribute that its target names."""
    if any(isinstance(node, (ast.Continue, ast.Break)) for node in walk(loop)):
        return False  # for some keywords alone
    each = [this, *(last_name(name) for name in getattr(loop.target, "elts", ()))]
    calls = (
        node.value for node in loop.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    )
    return any(
        last_name(call.func) == "setattr" and list(map(last_name, call.args)) == each for call in calls
    )


# What reaches an attribute by a text, and the position of the text.
BY_NAME = {"getattr": 1, "setattr": 1, "add_module": 0, "register_buffer": 0, "register_parameter": 0}


def compared_text(node: ast.AST) -> tuple[ast.Name, str, bool] | None:
    """Return the name, the text and whether they must be equal for ``name == "text"``; None for other nodes."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.left, ast.Name):
        return None
    operator, other = node.ops[0], node.comparators[0]
    if not isinstance(operator, (ast.Eq, ast.NotEq)) or not isinstance(other, ast.Constant):
        return None
    return (node.left, other.value, isinstance(operator, ast.Eq)) if isinstance(other.value, str) else None


def is_private(name: str) -> bool:
    """Return whether a name says that no code outside the project calls a function."""
    return name.startswith("_") and not name.startswith("__")
