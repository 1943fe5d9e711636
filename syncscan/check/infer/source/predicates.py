"""Functions that only ask whether their argument is None: ``def exists(value): return value is not None``."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import is_none


def holds_for_none(function: Function) -> bool | None:
    """Return the answer of such a function to None, the opposite of that to all else; None for a function that does more."""
    node = function.node
    if not isinstance(node, ast.FunctionDef) or not function.plain or function.decorators:
        return None
    body = node.body if ast.get_docstring(node) is None else node.body[1:]
    test = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or not is_none(test.comparators[0]):
        return None
    is_asked = isinstance(test.left, ast.Name) and test.left.id == function.plain[0].name
    operator = test.ops[0]
    return isinstance(operator, ast.Is) if is_asked and isinstance(operator, (ast.Is, ast.IsNot)) else None
