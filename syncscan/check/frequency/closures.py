"""Functions that others get: lambdas as arguments, and functions that outlive the one that defines them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, walk


def is_argument(function: Function) -> bool:
    """Return whether a lambda is an argument of a call, but for a call of a class, whose objects may keep it."""
    parent, node = function.parent, function.node
    around: ast.AST | None = function.statement or (parent.node if parent is not None else None)
    if parent is not None and isinstance(parent.node, ast.Lambda):
        around = parent.node.body
    return around is not None and any(
        not last_name(call.func)[:1].isupper()
        and any(each is node for each in (*call.args, *(keyword.value for keyword in call.keywords)))
        for call in _calls_beside(around)
    )


def is_handed_out(function: Function) -> bool:
    """Return whether a function outlives the one that defines it, which returns it or keeps it: ``model.forward = forward``."""
    if function.parent is None or function.is_lambda or isinstance(function.parent.node, ast.Lambda):
        return False
    return any(
        isinstance(each, ast.Name) and each.id == function.name
        for value in _handed_out_by(function.parent.node.body)
        for each in _mentioned(value)
    )


def _handed_out_by(body: Iterable[ast.stmt]) -> Iterator[ast.expr]:
    """Yield what statements return, or keep in attributes."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        is_kept = isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript))
        value = getattr(node, "value", None) if is_kept or isinstance(node, ast.Return) else None
        if value is not None:
            yield value
        for inner in blocks_of(node):
            yield from _handed_out_by(inner)


def _mentioned(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an expression, but for what it calls."""
    called = {each.func for each in walk(value) if isinstance(each, ast.Call)}
    yield from (each for each in walk(value) if isinstance(each, ast.expr) and each not in called)


def _calls_beside(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls in a statement or an expression, but for those inside of lambdas."""
    queue = [node]
    while queue:
        each = queue.pop()
        if isinstance(each, ast.Call):
            yield each
        queue += [inner for inner in ast.iter_child_nodes(each) if not isinstance(inner, ast.Lambda)]


def defined_in(caller: object) -> list[Function]:
    """Return the functions that a function defines."""
    inside = [*caller.children.values()] if isinstance(caller, Function) else []
    return [each for each in inside if isinstance(each, Function)]
