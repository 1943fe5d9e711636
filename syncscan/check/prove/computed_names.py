"""The texts that a variable can only be behind a test: ``assert name in {"a", "b"}``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from syncscan.check.infer.source.syntax import walk
from syncscan.check.prove.uses import blocks_of

Names = frozenset[str]
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def names_at_calls(function: ast.AST) -> dict[ast.Call, Mapping[str, Names]]:
    """Return, for the statements of a function that are calls, the variables that can only be one of some texts there."""
    tables, found = _tables(function), dict[ast.Call, Mapping[str, Names]]()
    _note_block(getattr(function, "body", ()), {}, tables, found)
    return found


def _note_block(
    body: object,
    known: Mapping[str, Names],
    tables: Mapping[str, Names],
    found: dict[ast.Call, Mapping[str, Names]],
) -> None:
    for statement in body if isinstance(body, list) else ():
        bound = _bound(statement)
        known = {name: names for name, names in known.items() if name not in bound}
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            found[statement.value] = known
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inside, outside = _names_in(statement, tables, ast.In), _names_in(statement, tables, ast.NotIn)
        for block in blocks_of(statement):
            is_then = isinstance(statement, ast.If) and block is statement.body
            _note_block(block, {**known, **inside} if is_then else known, tables, found)
        if isinstance(statement, ast.Assert):
            known = {**known, **inside}
        elif isinstance(statement, ast.If) and isinstance(statement.body[-1], _ENDS):
            known = {**known, **outside}


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement, or anything in it, binds."""
    return {
        each.id
        for each in walk(statement)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }


def _names_in(statement: ast.stmt, tables: Mapping[str, Names], sort: type[ast.cmpop]) -> dict[str, Names]:
    """Return the variable and the texts of the test of a statement: ``name in ("a", "b")``."""
    test = getattr(statement, "test", None)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], sort):
        return {}
    table = test.comparators[0]
    names = tables.get(table.id) if isinstance(table, ast.Name) else _texts(table)
    return {test.left.id: names} if names and isinstance(test.left, ast.Name) else {}


def _tables(function: ast.AST) -> dict[str, Names]:
    """Return the variables of a function that are bound once, to a literal of texts that nothing fills."""
    bound: dict[str, list[ast.expr | None]] = {}
    used: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.add(node.value.id)  # `names.add(name)`
    found = {
        name: _texts(values[0]) for name, values in bound.items() if len(values) == 1 and name not in used
    }
    return {name: names for name, names in found.items() if names}


def _texts(node: ast.expr | None) -> Names:
    """Return the texts of a literal set, tuple or list; none if anything else is in it."""
    parts = node.elts if isinstance(node, ast.Set | ast.Tuple | ast.List) else []
    texts = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return frozenset(texts) if len(texts) == len(parts) else frozenset()
