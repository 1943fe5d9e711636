"""Bindings that hold until the end of a call, where the runtime facts look at the variables of a function.

A binding in a loop does not count: the facts see the last iteration alone. Neither does one that another binding may follow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from syncscan.check.infer.source.syntax import walk
from syncscan.check.prove.uses import changed_inside

_NOTHING = frozenset[str]()
_REPEATED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def settled_bindings(function: ast.AST) -> frozenset[ast.Name]:
    """Return the targets of a function's assignments, and of ``:=`` in tests, whose names nothing binds again in the same call."""
    backwards = _Backwards()
    backwards.block(getattr(function, "body", []), _NOTHING)
    shared = {*_shared(function)}
    # In a class, `__size` is another name for `_Class__size`.
    return frozenset(each for each in backwards.settled if each.id not in shared and "__" not in each.id)


def _shared(function: ast.AST) -> Iterator[str]:
    """Yield the names that functions inside may bind, and those that are deleted."""
    for each in walk(function):
        if isinstance(each, (ast.Global, ast.Nonlocal)):
            yield from each.names
        elif isinstance(each, ast.Delete):
            yield from changed_inside(each)


class _Backwards:
    """A walk from the end of a function to its start, which knows the names that the code behind a statement may bind."""

    def __init__(self) -> None:
        self.settled: list[ast.Name] = []
        self._guarded = 0  # in statements that code may follow after a `return` or a `raise`

    def block(self, body: Sequence[ast.stmt], later: frozenset[str]) -> frozenset[str]:
        """Walk statements; return the names that they and the code behind them may bind."""
        for node in reversed(body):
            later = self._statement(node, later)
        return later

    def _statement(self, node: ast.stmt, later: frozenset[str]) -> frozenset[str]:
        if isinstance(node, (ast.Return, ast.Raise)):
            return (later if self._guarded else _NOTHING).union(changed_inside(node))
        if isinstance(node, ast.If):
            later = self.block(node.body, later) | self.block(node.orelse, later)
            named = [each.target for each in walk(node.test) if isinstance(each, ast.NamedExpr)]
            self._settle([] if any(isinstance(each, _REPEATED) for each in walk(node.test)) else named, later)
            return later.union(changed_inside(node.test))
        if isinstance(node, (ast.With, ast.AsyncWith, ast.Try)):
            self._guarded += 1
            later = self._in_turn(node, later)
            self._guarded -= 1
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            self._settle([each for target in targets for each in _names(target)], later)
        return later.union(changed_inside(node))

    def _settle(self, names: Sequence[ast.Name], later: frozenset[str]) -> None:
        """Note the targets of one expression or statement that nothing binds again."""
        once = [each for each in names if sum(other.id == each.id for other in names) == 1]
        self.settled += [each for each in once if each.id not in later]

    def _in_turn(self, node: ast.With | ast.AsyncWith | ast.Try, later: frozenset[str]) -> frozenset[str]:
        """Walk the parts of a statement from the last to the first: each may run after the parts above it."""
        if isinstance(node, ast.Try):
            later = self.block(node.orelse, self.block(node.finalbody, later))
            for handler in reversed(node.handlers):
                named = later | {handler.name or ""}  # which is deleted behind the handler
                later = named | self.block(handler.body, named)
        return self.block(node.body, later)


def _names(target: ast.expr) -> list[ast.Name]:
    """Return the names that a target binds."""
    return [each for each in walk(target) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
