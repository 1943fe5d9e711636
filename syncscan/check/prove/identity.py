"""Functions that return one of their arguments, and decorators that return the decorated function."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import own_nodes


def gives_back(decorator: Function) -> bool:
    """Return whether a decorator returns the function itself, such as one that registers it: ``return function``.

    The same holds for a decorator with arguments, which returns such a decorator that it defines.
    """
    returned = returned_parameter(decorator)
    if returned:
        return bool(decorator.plain) and decorator.plain[0].name == returned
    node = decorator.node
    if not _is_plain(decorator) or not isinstance(node, ast.FunctionDef):
        return False
    name = _returned_name(node)
    inner = decorator.children.get(name)
    return isinstance(inner, Function) and len(stores_of(node, name)) == 1 and gives_back(inner)


def returned_parameter(function: Function) -> str:
    """Return the parameter that every call of a function returns as it is, or ""."""
    node = function.node
    if not _is_plain(function) or not isinstance(node, ast.FunctionDef):
        return ""
    name = _returned_name(node)
    is_own = name in function.by_name and not function.by_name[name].star
    return name if is_own and not stores_of(node, name) else ""


def _is_plain(function: Function) -> bool:
    return not (function.is_generator or function.decorators)


def _returned_name(node: ast.FunctionDef) -> str:
    """Return the one name that every end of a function returns, or ""."""
    last = node.body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return ""
    name = last.value.id
    returned = (each.value for each in own_nodes(node.body) if isinstance(each, ast.Return))
    return name if all(isinstance(each, ast.Name) and each.id == name for each in returned) else ""


def stores_of(node: ast.AST, name: str) -> list[ast.AST]:
    """Return what may bind a name in a function or in functions inside it, parameters aside."""
    found: list[ast.AST] = []
    for each in ast.walk(node):
        if each is node:
            continue
        bound = getattr(each, "id", None) if not isinstance(getattr(each, "ctx", None), ast.Load) else None
        names = [
            bound,
            getattr(each, "name", None),
            getattr(each, "rest", None),
            getattr(each, "asname", None),
        ]
        if name in names or name in getattr(each, "names", ()):
            found.append(each)
    return found
