"""The place of a read among the statements that use what it reads."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from syncscan.rule import Facts
from syncscan.syntax.use import uses_of

from ._parts import is_torch, line_of, names_in

# Methods that convert what a copy brought, and compute nothing.
_CONVERT = frozenset(
    {
        "astype",
        "clone",
        "detach",
        "float",
        "int",
        "long",
        "numpy",
        "reshape",
        "squeeze",
        "to",
        "tolist",
        "view",
    }
)
_HOLDERS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Starred, ast.IfExp)


def branch_of_uses(node: ast.AST, facts: Facts) -> str:
    """Return the test of a branch that holds every use of what a node reads, as text; "" if there is none.

    The host decides the test, and needs the value of the read for nothing else.
    """
    uses = (
        [each.node for each in uses_of(node, facts.around(node))] if _is_named(facts.statement(node)) else []
    )
    shared = _branch_around(uses, node, facts)
    if shared is None or not {shared, *ast.walk(shared.test)}.isdisjoint(uses):
        return ""
    parts = [each for each in ast.walk(shared.test) if isinstance(each, ast.expr)]
    return "" if any(facts.of(each).is_gpu for each in parts) else line_of(shared.test, facts)


def _branch_around(uses: Sequence[ast.AST], node: ast.AST, facts: Facts) -> ast.If | None:
    """Return the innermost `if` that all uses are in, and a node is not."""
    around = facts.around(node)
    branches = [[each for each in around.up(use) if isinstance(each, ast.If)] for use in uses]
    inside = {*around.up(node)}
    shared = (each for each in (branches or [[]])[0] if all(each in others for others in branches))
    return next((each for each in shared if each not in inside), None)


def _is_named(statement: ast.AST) -> bool:
    """Return whether a statement only gives a value a name."""
    return isinstance(statement, ast.Assign) and all(isinstance(each, ast.Name) for each in statement.targets)


def is_collected(node: ast.AST, facts: Facts) -> bool:
    """Return whether a comprehension reads one number for each of its elements, and nothing tests the number."""
    inner, holder = node, facts.parent(node)
    while isinstance(holder, (ast.BinOp, ast.IfExp, ast.Call)) and inner is not getattr(holder, "test", None):
        inner, holder = holder, facts.parent(holder)
    if isinstance(holder, ast.DictComp):
        return holder.value is inner
    return isinstance(holder, (ast.ListComp, ast.GeneratorExp)) and holder.elt is inner


def is_used_at_once(node: ast.AST, facts: Facts) -> bool:
    """Return whether the host works with a copy in the statement that makes it, or in the next one."""
    inner, holder = node, facts.parent(node)
    while isinstance(holder, (ast.Attribute, ast.Call)) and _converts(holder, inner):
        inner, holder = holder, facts.parent(holder)
    if isinstance(holder, ast.Assign) and _is_named(holder):
        names = {each.id for each in holder.targets if isinstance(each, ast.Name)}
        return not names.isdisjoint(names_in(facts.after(node)))
    if isinstance(holder, ast.Call):  # others may keep the copy for later
        return isinstance(holder.func, ast.Attribute) and is_torch(holder.func.value)
    return isinstance(holder, ast.expr) and not isinstance(holder, _HOLDERS)


def _converts(holder: ast.Attribute | ast.Call, inner: ast.AST) -> bool:
    return holder.attr in _CONVERT if isinstance(holder, ast.Attribute) else holder.func is inner
