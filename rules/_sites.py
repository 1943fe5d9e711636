"""The place of a read among the statements that use what it reads."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

from syncscan.rule import Facts
from syncscan.syntax.context import SyntaxContext
from syncscan.syntax.use import Role, uses_of

from ._parts import VIEWS, is_torch, line_of, names_in

_CONVERT = VIEWS | {"astype", "numpy", "tolist"}  # methods that compute nothing with a copy
_DECIDES = frozenset({Role.SIZE, Role.INDEX, Role.TEST})
_Setter: TypeAlias = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr
_SETTERS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def branch_of_uses(node: ast.AST, facts: Facts) -> str:
    """Return the test of a branch that holds every use of what a node reads, as text; "" if there is none.

    The branch follows the read in the same loop, and nothing in between changes what the node reads.
    """
    uses = (
        [each.node for each in uses_of(node, facts.around(node))] if _is_named(facts.statement(node)) else []
    )
    branch = _branch_around(uses, node, facts)
    if branch is None or any(
        facts.of(each).is_gpu for each in ast.walk(branch.test) if isinstance(each, ast.expr)
    ):
        return ""
    return "" if _changes_before(branch, node, facts) else line_of(branch.test, facts)


def is_needed_at_once(node: ast.AST, facts: Facts) -> bool:
    """Return whether a name to which the function gives a read value, or what it computes from the value, decides what runs.

    Such names are tests, indices, bounds and sizes. A loop may bring a value back to a test above the read.
    """
    around = facts.around(node)
    places, setter = around.names_around(node).places, _setter_around(node, around)
    named = {each.id for each in ast.walk(setter) if _is_stored(each)} if setter is not None else set[str]()
    while more := {
        name
        for name, found in places.items()
        if name not in named and any(not named.isdisjoint(_given_to(each, around)) for each in found)
    }:
        named |= more
    reads = [each for name in named for each in places[name] if not _is_stored(each)]
    return any(use.role in _DECIDES for each in reads for use in uses_of(each, around))


def _given_to(place: ast.Name, around: SyntaxContext) -> list[str]:
    """Return the names from which an assignment computes what it gives to a place; [] for a place that is read."""
    setter = _setter_around(place, around) if _is_stored(place) else None
    return names_in(setter.value) if setter is not None else []


def _setter_around(node: ast.AST, around: SyntaxContext) -> _Setter | None:
    return next((each for each in around.up(node, itself=False) if isinstance(each, _SETTERS)), None)


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _branch_around(uses: Sequence[ast.AST], node: ast.AST, facts: Facts) -> ast.If | None:
    """Return the innermost `if` whose body has all uses, in the same loop as a node; None where there is none."""
    found = [_branches_around(use, node, facts) for use in uses]
    shared = (each for each in (found or [[]])[0] if all(each in others for others in found))
    return next(shared, None)


def _branches_around(use: ast.AST, node: ast.AST, facts: Facts) -> list[ast.If]:
    around, before = facts.around(node), use
    inside, found = {*around.up(node)}, list[ast.If]()
    for each in around.up(use, itself=False):
        if each in inside:
            break
        if isinstance(each, (ast.For, ast.AsyncFor, ast.While, *_FUNCTIONS)):
            found.clear()  # the read would run in each iteration
        if isinstance(each, ast.If) and before in each.body:
            found.append(each)
        before = each
    return found


def _changes_before(branch: ast.If, node: ast.AST, facts: Facts) -> bool:
    """Return whether a statement between a read and a branch may change what the node reads."""
    around, names = facts.around(node), names_in(node)
    places = [each for name in names for each in around.names_around(node).places[name]]
    start, end = getattr(node, "end_lineno", 0), branch.lineno
    return any(start < each.lineno < end for each in places)


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
    """Return whether the host computes with a copy in the statement that makes it, or in the next one."""
    inner, holder = node, facts.parent(node)
    while isinstance(holder, (ast.Attribute, ast.Call)) and _converts(holder, inner):
        inner, holder = holder, facts.parent(holder)
    if not isinstance(holder, ast.Assign) or not _is_named(holder):
        return _computes(holder, inner)
    names = {each.id for each in holder.targets if isinstance(each, ast.Name)}
    after = facts.after(node)
    pairs = (
        [(each, inner) for each in ast.walk(after) for inner in ast.iter_child_nodes(each)]
        if after is not None
        else []
    )
    return any(isinstance(use, ast.Name) and use.id in names and _computes(each, use) for each, use in pairs)


def _computes(holder: ast.AST | None, inner: ast.AST) -> bool:
    """Return whether a node computes with a part of it; others may keep the part for later."""
    if isinstance(holder, ast.Call):
        return (
            isinstance(holder.func, ast.Attribute)
            and holder.func is not inner
            and is_torch(holder.func.value)
        )
    return isinstance(holder, (ast.Attribute, ast.BinOp, ast.Compare, ast.UnaryOp)) or (
        isinstance(holder, ast.Subscript) and holder.slice is inner
    )


def _converts(holder: ast.Attribute | ast.Call, inner: ast.AST) -> bool:
    return holder.attr in _CONVERT if isinstance(holder, ast.Attribute) else holder.func is inner
