"""The texts that a variable can only be behind a test: ``assert name in {"a", "b"}``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from syncscan.check.infer.source.syntax import NodesByType
from syncscan.check.prove.identity import stores_of
from syncscan.check.prove.uses import blocks_of

Names = frozenset[str]
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def names_at_calls(function: ast.AST) -> dict[ast.Call, Mapping[str, Names]]:
    """Return, for the statements of a function that are calls, the variables that can only be one of some texts there."""
    found: dict[ast.Call, Mapping[str, Names]] = {}
    _note_block(getattr(function, "body", ()), {}, _Texts(function), found)
    return found


class _Texts:
    """The texts of literals, and of the variables of a function that only name one literal."""

    def __init__(self, function: ast.AST) -> None:
        self._function, nodes = function, NodesByType(function)
        self.shared = {name for each in nodes.of(ast.Global) for name in each.names}
        self.shared |= {name for each in nodes.of(ast.Nonlocal) for name in each.names}
        self._mentions = [*nodes.of(ast.Name)]
        self._parameters = {each.arg for each in nodes.of(ast.arg)}
        self.own = self._parameters | {
            each.id for each in self._mentions if not isinstance(each.ctx, ast.Load)
        }
        tests = nodes.of(ast.Compare)
        self._tests = [each.comparators[0] for each in tests if isinstance(each.ops[0], ast.In | ast.NotIn)]
        plain = [each for each in nodes.of(ast.Assign) if each in getattr(function, "body", ())]
        self._assignments = [each for each in plain if len(each.targets) == 1]

    def of(self, node: ast.expr) -> Names:
        """Return the texts of a set, tuple or list; none if anything else is in it, or may get into it."""
        if not isinstance(node, ast.Name):
            return _literal(node)
        stored = stores_of(self._function, node.id)
        made = [each for each in self._assignments if each.targets[0] in stored]
        if len(stored) != 1 or len(made) != 1 or node.id in self.shared or node.id in self._parameters:
            return frozenset()
        allowed = [*self._tests, *stored]
        is_only_tested = all(each in allowed for each in self._mentions if each.id == node.id)
        return _literal(made[0].value) if is_only_tested else frozenset()


def _note_block(
    body: object,
    known: Mapping[str, Names],
    texts: _Texts,
    found: dict[ast.Call, Mapping[str, Names]],
) -> None:
    for statement in body if isinstance(body, list) else ():
        known = {name: names for name, names in known.items() if not stores_of(statement, name)}
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            found[statement.value] = known
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inside, outside = _names_in(statement, texts, ast.In), _names_in(statement, texts, ast.NotIn)
        for block in blocks_of(statement):
            is_then = isinstance(statement, ast.If) and block is statement.body
            _note_block(block, {**known, **inside} if is_then else known, texts, found)
        if isinstance(statement, ast.Assert):
            known = {**known, **inside}
        elif isinstance(statement, ast.If) and isinstance(statement.body[-1], _ENDS) and not statement.orelse:
            known = {**known, **outside}


def _names_in(statement: ast.stmt, texts: _Texts, sort: type[ast.cmpop]) -> dict[str, Names]:
    """Return the variable and the texts of the test of a statement: ``name in ("a", "b")``."""
    test = getattr(statement, "test", None)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], sort):
        return {}
    variable, names = test.left, texts.of(test.comparators[0])
    if not names or not isinstance(variable, ast.Name) or variable.id not in texts.own - texts.shared:
        return {}
    return {variable.id: names}


def _literal(node: ast.expr) -> Names:
    parts = node.elts if isinstance(node, ast.Set | ast.Tuple | ast.List) else []
    texts = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return frozenset(texts) if len(texts) == len(parts) else frozenset()
