"""Tests of switches: parameters and attributes to which the project gives one truth value alone, by its default and its calls."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.check.infer.source.syntax import last_name, path_of

_OF_TORCH = frozenset({"training"})  # which `train()` and `eval()` set


def switched_off(test: ast.expr, truth_of: Callable[[ast.expr], bool | None], *, holds: bool) -> str:
    """Return the switch that keeps a test from the outcome ``holds``, or "".

    ``truth_of`` returns the only truth value of an expression, or None.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return switched_off(test.operand, truth_of, holds=not holds)
    if isinstance(test, ast.BoolOp):
        parts = [switched_off(part, truth_of, holds=holds) for part in test.values]
        decides = any if isinstance(test.op, ast.And) is holds else all
        return next(filter(None, parts)) if decides(parts) else ""
    name = "" if last_name(test) in _OF_TORCH else path_of(test)
    return name if name and truth_of(test) is (not holds) else ""
