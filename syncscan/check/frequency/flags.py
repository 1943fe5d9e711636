"""Local variables that hold the answer to a test, and flags that only the first iteration of a loop finds set."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator, Sequence

from syncscan.check.infer.source.syntax import last_name, walk

_Values = dict[str, list["ast.expr | None"]]  # by the name to which they are assigned


def with_answers(test: ast.expr, function: ast.AST) -> ast.expr:
    """Return a test with the tests that its variables hold in their places: of those that the function sets once."""
    if isinstance(test, ast.Name):
        values = values_in(function).get(test.id, [])
        held = values[0] if len(values) == 1 else None
        return held if held is not None and _is_answer(held) else test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = with_answers(test.operand, function)
        return test if inner is test.operand else ast.UnaryOp(test.op, inner)
    if isinstance(test, ast.BoolOp):
        parts = [with_answers(each, function) for each in test.values]
        is_same = all(one is other for one, other in zip(parts, test.values, strict=True))
        return test if is_same else ast.BoolOp(test.op, parts)
    return test


def _is_answer(value: ast.expr) -> bool:
    """Return whether a value is a test; what a call reads of a cache is none, since its guard asks the variable."""
    is_asked = isinstance(value, ast.Call) and last_name(value.func) == "hasattr"
    return is_asked or isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp))


def first_iteration(node: ast.If, loop: ast.AST | None) -> Iterator[Sequence[ast.stmt]]:
    """Yield the statements that a test lets run in the first iteration of a loop alone.

    They clear the flag that the test asks, and nothing in the loop sets the flag again: ``if is_prefill: is_prefill = False``.
    """
    is_not = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    flag = node.test.operand if isinstance(node.test, ast.UnaryOp) and is_not else node.test
    if not isinstance(flag, ast.Name) or loop is None:
        return
    clears = any(
        isinstance(each, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == flag.id for target in each.targets)
        for each in node.body
    )
    if clears and all(_is(each, is_not) for each in values_in(loop).get(flag.id, [])):
        yield node.body


def _is(value: ast.expr | None, answer: bool) -> bool:
    return isinstance(value, ast.Constant) and value.value is answer


@functools.lru_cache(maxsize=64)  # the tests of a function follow one another
def values_in(node: ast.AST) -> _Values:
    """Return what a function or a loop assigns to each name; None where that is no single value."""
    found: _Values = defaultdict(list)
    plain = set()
    for each in walk(node):
        if isinstance(each, (ast.Assign, ast.AnnAssign)):
            for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                if isinstance(target, ast.Name):
                    plain.add(target)
                    found[target.id].append(each.value)
        elif isinstance(each, ast.arg):
            found[each.arg].append(None)
    for each in walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each not in plain:
            found[each.id].append(None)
    return found
