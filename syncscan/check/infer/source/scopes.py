"""Which names belong to which function: its own, those that functions in it read, and those that they set."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from syncscan.check.infer.source.index import Function, Module
from syncscan.check.infer.source.indexer import parameters_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scopes:
    """The names of the functions of one project, each read from its source when it is first asked for."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self.lambdas: dict[ast.Lambda, Function] = {}
        self._locals: dict[Function, frozenset[str]] = {}
        self._captured: dict[Function, frozenset[str]] = {}
        self._rebound: dict[Function, set[str]] = {}
        for module in modules:
            for function in module.functions:
                for name in function.nonlocal_names:
                    scope = self.scope_of(function, name)
                    if scope is not None:
                        self._rebound.setdefault(scope, set()).add(name)

    def locals_of(self, function: Function) -> frozenset[str]:
        """The names that a function binds."""
        if function not in self._locals:
            names = {parameter.name for parameter in function.parameters}
            if not isinstance(function.node, ast.Module):
                names |= {
                    child.id
                    for child in ast.walk(function.node)
                    if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
                }
            self._locals[function] = frozenset(names - function.global_names - function.nonlocal_names)
        return self._locals[function]

    def captured_of(self, function: Function) -> frozenset[str]:
        """The names of a function that functions defined in it may read or set."""
        if function not in self._captured:
            self._captured[function] = self.locals_of(function) & _named_inside(function.node)
        return self._captured[function]

    def rebound_of(self, function: Function) -> Iterable[str]:
        """The names of a function that functions defined in it set."""
        return self._rebound.get(function, ())

    def scope_of(self, function: Function, name: str) -> Function | None:
        """The function around this one whose variable a ``nonlocal`` name is."""
        scope = function.parent
        while scope is not None and name not in self.locals_of(scope):
            scope = scope.parent
        return scope

    def function_of(self, node: ast.Lambda, outer: Function, statement: ast.stmt | None) -> Function:
        """A lambda as a function, in the function and the statement in which it is met first."""
        known = self.lambdas.get(node)
        if known is not None:
            return known
        module = outer.module
        prefix = "" if outer is module.body else f"{outer.qualname}."
        made = Function("<lambda>", f"{prefix}<lambda>", module, node)
        made.parent = None if outer is module.body else outer
        made.take(parameters_of(node.args))
        made.statement = statement
        self.lambdas[node] = made
        return made


def _named_inside(node: ast.AST) -> set[str]:
    """The names in the functions and lambdas that are defined in a function."""
    names: set[str] = set()
    queue = [(child, False) for child in ast.iter_child_nodes(node)]
    while queue:
        child, inside = queue.pop()
        if inside and isinstance(child, ast.Name):
            names.add(child.id)
        inside = inside or isinstance(child, _FUNCTIONS)
        queue += [(grandchild, inside) for grandchild in ast.iter_child_nodes(child)]
    return names
