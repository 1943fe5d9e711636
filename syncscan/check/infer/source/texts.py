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
    for loop in walk(function.node):
        if (
            not isinstance(loop, ast.For)
            or dotted_name(loop.iter.func if isinstance(loop.iter, ast.Call) else loop.iter)
            != f"{keywords}.items"
        ):
            continue
        each = [this, *(last_name(name) for name in getattr(loop.target, "elts", ()))]
        calls = (
            node for node in walk(loop) if isinstance(node, ast.Call) and last_name(node.func) == "setattr"
        )
        if any([last_name(arg) for arg in call.args] == each for call in calls):
            return True
    return False


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
