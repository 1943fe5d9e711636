"""Functions that only ask whether their argument is None: ``def exists(value): return value is not None``."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Function


def holds_for_none(function: Function) -> bool | None:
    """Return the outcome of such a function for None, which is the opposite one for all else; None for other functions."""
    body = getattr(function.node, "body", None)
    said = body[1:] if isinstance(body, list) and _is_text(body[0]) else body
    if (
        not isinstance(said, list)
        or len(said) != 1
        or not isinstance(said[0], ast.Return)
        or function.decorators
    ):
        return None
    test, first = said[0].value, function.plain[0].name if function.plain else ""
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name) or test.left.id != first:
        return None
    operator, other = test.ops[0], test.comparators[-1]
    is_asked = len(test.ops) == 1 and isinstance(operator, (ast.Is, ast.IsNot)) and _is_none(other)
    return isinstance(operator, ast.Is) if is_asked else None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
