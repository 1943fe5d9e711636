"""The suggestion for a test that guards operations with a mask, which change nothing where the mask selects nothing."""

from __future__ import annotations

import ast

from syncscan.rule import Facts

from ._loop_reads import is_repeatable
from ._parts import VIEWS, calls_in, is_torch, last_name, line_of
from ._shared import index_parts
from ._suggestions import suggest

_ASKS = frozenset({"any", "sum", "all", "count_nonzero"})
_OF_NOTHING = frozenset(
    {"mean", "max", "min", "std", "var", "argmax", "argmin", "median"}
)  # raise or give NaN
_CHANGES = frozenset({"masked_fill", "masked_scatter"})
_IN_PLACE = frozenset({"masked_fill_", "masked_scatter_"})
_SOME = {(ast.Gt, 0), (ast.NotEq, 0), (ast.GtE, 1)}  # of a count
_NONE = {(ast.Eq, 0), (ast.LtE, 0), (ast.Lt, 1)}


def of_a_guard(test: ast.If, node: ast.AST, tensor: ast.AST, facts: Facts) -> str:
    """Return the suggestion for a test that guards operations with a mask; "" for other tests.

    ``node`` reads ``tensor``. Only a body that does nothing but these operations may run without its guard.
    """
    guard = next((call for call in calls_in(tensor) if last_name(call.func) in _ASKS), None)
    if guard is None or not isinstance(guard.func, ast.Attribute) or test.orelse:
        return ""
    mask = guard.args[0] if is_torch(guard.func.value) and guard.args else guard.func.value
    is_of_all = guard.func.attr == "all"
    text, asked, wants = line_of(mask, facts), *_asked(test.test)
    if not text or wants is not (not is_of_all) or not _is_answer(asked, node, guard, facts):
        return ""
    if not all(_changes_by(each, ast.unparse(mask), not is_of_all, facts) for each in test.body):
        return ""
    return suggest("guard-all" if is_of_all else "guard", mask=text)


def _asked(test: ast.expr) -> tuple[ast.expr, bool | None]:
    """Return the value that a test asks, and whether the body runs for a true one or for a false one; None for other tests."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        asked, wants = _asked(test.operand)
        return asked, None if wants is None else not wants
    if not isinstance(test, ast.Compare):
        return test, True
    bound = test.comparators[0]
    order = (type(test.ops[0]), bound.value if isinstance(bound, ast.Constant) else None)
    return test.left, True if order in _SOME else False if order in _NONE else None


def _is_answer(asked: ast.expr, node: ast.AST, guard: ast.Call, facts: Facts) -> bool:
    """Return whether what a test asks is the answer about the mask, or a name that holds the answer."""
    statement = facts.statement(node)
    if isinstance(asked, ast.Name) and isinstance(statement, ast.Assign):
        return statement.value is node
    return asked is node or asked is guard


def _changes_by(statement: ast.stmt, mask: str, wants: bool, facts: Facts) -> bool:
    """Return whether a statement changes the elements where a mask is ``wants``, and does nothing else."""
    if isinstance(statement, ast.Expr):
        return _fills(statement.value, mask, wants, facts)
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not _computes(statement.value, facts):
        return False
    target, *others = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if isinstance(target, ast.Subscript) and not others:
        return any(_selects(part, mask) is wants for part in index_parts(target))
    is_new = isinstance(statement, ast.Assign) and not others
    return is_new and _keeps_others(statement.value, ast.unparse(target), mask, wants)


def _fills(call: ast.expr, mask: str, wants: bool, facts: Facts) -> bool:
    """Return whether a call fills a tensor in place, where a mask is ``wants``."""
    if not isinstance(call, ast.Call) or last_name(call.func) not in _IN_PLACE or not call.args:
        return False
    return _selects(call.args[0], mask) is wants and all(_computes(each, facts) for each in call.args)


def _keeps_others(value: ast.expr, target: str, mask: str, wants: bool) -> bool:
    """Return whether a value is a target with changes only where a mask is ``wants``."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    of_tensor = [] if is_torch(value.func.value) else [value.func.value]
    operands = [*of_tensor, *value.args]
    if len(operands) != 3:  # a tensor, a condition and values
        return False
    if value.func.attr != "where":
        is_change = value.func.attr in _CHANGES and _selects(operands[1], mask) is wants
        return is_change and ast.unparse(operands[0]) == target
    new, condition, old = operands if of_tensor else (operands[1], operands[0], operands[2])
    selected = _selects(condition, mask)
    return selected is not None and ast.unparse(old if selected is wants else new) == target


def _computes(value: ast.expr, facts: Facts) -> bool:
    """Return whether an expression only computes, with no error for no elements."""
    inside = [*ast.walk(value)]
    divides = any(
        isinstance(each, ast.BinOp) and isinstance(each.op, (ast.Div, ast.FloorDiv, ast.Mod))
        for each in inside
    )
    reduces = any(isinstance(each, ast.Call) and last_name(each.func) in _OF_NOTHING for each in inside)
    loops = any(isinstance(each, ast.comprehension) for each in inside)
    return not divides and not reduces and not loops and is_repeatable(value, facts)


def _selects(condition: ast.expr, mask: str) -> bool | None:
    """Return whether a condition is true where a mask is true, or where the mask is false; None for other conditions.

    A part or a view of the mask selects nothing if the mask does not.
    """
    selects = True
    inner: ast.expr = condition
    while ast.unparse(inner) != mask:
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Invert):
            selects, inner = not selects, inner.operand
        elif isinstance(inner, ast.Subscript):
            inner = inner.value
        elif (
            isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in VIEWS
        ):
            inner = inner.func.value
        else:
            return None
    return selects
