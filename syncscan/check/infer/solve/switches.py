"""Tests of switches: parameters and attributes that have one value alone in the project, by their default and its calls."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable

from syncscan.check.infer.source.syntax import last_name, path_of, walk

_OF_TORCH = frozenset({"training"})  # which `train()` and `eval()` set
_INFINITE = frozenset({"inf", "Inf", "infty"})  # in math, numpy and torch
NO_CONSTANT = object()


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
    switch = test.left if isinstance(test, ast.Compare) else test
    name = "" if last_name(switch) in _OF_TORCH else path_of(switch)
    return name if name and truth_of(test) is (not holds) else ""


def outcome(test: ast.Compare, value: object) -> bool | None:
    """Return whether a test for equality, or for one of several constants, holds for a value; None for other tests."""
    operator, other = test.ops[0], constant_of(test.comparators[0])
    if len(test.ops) > 1 or NO_CONSTANT in (value, other):
        return None
    if isinstance(operator, (ast.Eq, ast.NotEq)) and not isinstance(other, tuple):
        return (value == other) is isinstance(operator, ast.Eq)
    if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(other, tuple):
        return (value in other) is isinstance(operator, ast.In)
    return None


def constant_of(node: ast.expr | None) -> object:
    """Return the value of a literal, of several, or of infinity; `NO_CONSTANT` for other expressions."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        items = tuple(map(constant_of, node.elts))
        return NO_CONSTANT if NO_CONSTANT in items else items
    if isinstance(node, ast.Call):
        is_float = last_name(node.func) == "float" and len(node.args) == 1
        return math.inf if is_float and constant_of(node.args[0]) in {"inf", "infinity"} else NO_CONSTANT
    return math.inf if node is not None and last_name(node) in _INFINITE else NO_CONSTANT


@functools.lru_cache(maxsize=16)  # a function may ask often
def is_only_converted(name: str, body: ast.AST) -> bool:
    """Return whether a function binds the name of a parameter to its own number alone: ``p = float(p)``."""
    nodes = walk(body)
    if any(
        name in (getattr(each, "name", ""), getattr(each, "asname", "")) for each in nodes if each is not body
    ):
        return False  # of an import, a function inside, a handler, or a pattern
    stored = sum(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store) for each in nodes
    )
    converted = sum(
        isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Call)
        and last_name(each.value.func) == "float"
        and [*map(path_of, (*each.targets, *each.value.args))] == [name, name]
        for each in nodes
    )
    return stored == converted
