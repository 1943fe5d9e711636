"""Name scopes: the names that each function binds, and the names that nested functions read or set."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from syncscan.check.infer.source.index import LAMBDA, Function, Module
from syncscan.check.infer.source.indexer import parameters_of
from syncscan.check.infer.source.syntax import inside

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scopes:
    """The names of the functions of one project, each read from its source on first use."""

    def __init__(self) -> None:
        self.lambdas: dict[ast.Lambda, Function] = {}
        self.placeless: dict[Function, None] = {}  # those in files that have not been read
        self._names: dict[ast.AST, _Names] = {}
        self._locals: dict[Function, frozenset[str]] = {}
        self._captured: dict[Function, frozenset[str]] = {}
        self._rebound: dict[Module, dict[Function, set[str]]] = {}
        self._numbers: dict[Function, dict[ast.Lambda, int]] = {}

    def forget(self, functions: Iterable[Function]) -> None:
        """Invalidate the names of functions whose source has changed, with the lambdas in them."""
        for function in functions:
            of_function = [
                function,
                *(self.lambdas.pop(node, None) for node in self._numbers.pop(function, ())),
            ]
            for each in filter(None, of_function):
                self._names.pop(each.node, None)
                self._rebound.pop(each.module, None)
                for known in (self._locals, self._captured):
                    known.pop(each, None)

    def locals_of(self, function: Function) -> frozenset[str]:
        """Return the names that a function binds."""
        if function not in self._locals:
            names = {parameter.name for parameter in function.parameters}
            if not isinstance(function.node, ast.Module):
                names |= self._names_of(function.node).stored
            self._locals[function] = frozenset(names - function.global_names - function.nonlocal_names)
        return self._locals[function]

    def captured_of(self, function: Function) -> frozenset[str]:
        """Return the names of a function that nested functions may read or set."""
        if function not in self._captured:
            own = self.locals_of(function)
            self._captured[function] = own & self._names_of(function.node).inside if own else own
        return self._captured[function]

    def _names_of(self, node: ast.AST) -> _Names:
        if node not in self._names:
            self._names |= _names_below(node)
        return self._names[node]

    def rebound_of(self, function: Function) -> Collection[str]:
        """Return the names of a function that nested functions set."""
        module = function.module
        if module not in self._rebound:
            self._rebound[module] = self._rebound_in(module)
        return self._rebound[module].get(function, ())

    def _rebound_in(self, module: Module) -> dict[Function, set[str]]:
        rebound: dict[Function, set[str]] = {}
        for function in module.functions:
            for name in function.nonlocal_names:
                scope = self.scope_of(function, name)
                if scope is not None:
                    rebound.setdefault(scope, set()).add(name)
        return rebound

    def scope_of(self, function: Function, name: str) -> Function | None:
        """Return the enclosing function whose variable a ``nonlocal`` name denotes, or None."""
        scope = function.parent
        while scope is not None and name not in self.locals_of(scope):
            scope = scope.parent
        return scope

    def function_of(self, node: ast.Lambda, outer: Function, statement: ast.stmt | None) -> Function:
        """Return the function of a lambda, which belongs to the statement in which the analysis meets it first."""
        known = self.lambdas.get(node)
        if known is not None:
            return known
        module = outer.module
        if _is_default(node, outer):
            outer = outer.parent or module.body
        prefix = "" if outer is module.body else f"{outer.qualname}."
        made = Function(LAMBDA, f"{prefix}{LAMBDA}", module, node)
        made.parent = None if outer is module.body else outer
        made.take(parameters_of(node.args))
        made.statement = statement
        while isinstance(outer.node, ast.Lambda):
            outer = outer.parent or module.body
        number = self._numbers_in(outer)[node]
        made.key, made.number = f"{outer.key}:{number}", number
        self.lambdas[node] = made
        return made

    def numbered(self, definition: Function, number: int, outer: Function) -> Function:
        """Return the lambda of a number within a definition, which stands in ``outer``."""
        (node,) = (each for each, known in self._numbers_in(definition).items() if known == number)
        return self.function_of(node, outer, None)

    def all_lambdas(self) -> list[Function]:
        """Return all lambdas met in order, including those in files that are not parsed; nested lambdas come after outer ones."""

        def place(function: Function) -> tuple[str, str, int]:
            return function.module.path, function.key.rpartition(":")[0], function.number

        return sorted((*self.lambdas.values(), *self.placeless), key=place)

    def place(self, function: Function, definition: Function) -> None:
        """Attach the node to a lambda of an earlier run, by its number within a definition."""
        (node,) = (each for each, number in self._numbers_in(definition).items() if number == function.number)
        self.placeless.pop(function, None)
        function.node = node
        self.lambdas[node] = function

    def _numbers_in(self, definition: Function) -> dict[ast.Lambda, int]:
        """Return the lambdas of a definition with their numbers, from 1."""
        if definition not in self._numbers:
            self._numbers[definition] = {each: n for n, each in enumerate(_lambdas_of(definition.node), 1)}
        return self._numbers[definition]


def _is_default(node: ast.Lambda, function: Function) -> bool:
    """Return whether a lambda is part of a parameter's default, and so belongs to the enclosing function."""
    defaults = (parameter.default for parameter in function.parameters if parameter.default is not None)
    return any(node is inner for default in defaults for inner in ast.walk(default))


def _lambdas_of(definition: ast.AST) -> Iterator[ast.Lambda]:
    """Yield the lambdas of a function or module, including nested lambdas, but not those of nested functions."""
    body: list[ast.AST] = [*getattr(definition, "body", ())]
    queue = deque(body)
    while queue:
        node = queue.popleft()
        if isinstance(node, ast.Lambda):
            yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            queue += [*node.decorator_list, node.args]
        else:
            queue += ast.iter_child_nodes(node)


@dataclass(slots=True)
class _Names:
    """The names in the source of a function: used, bound, and used in nested functions."""

    named: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)  # those in the functions and lambdas that are defined in it


def _names_below(node: ast.AST) -> dict[ast.AST, _Names]:
    """Return the names of a function and of each nested function, in one walk."""
    found = {node: _Names()}
    around: list[tuple[ast.AST, ast.AST]] = []
    queue = [(child, node) for child in inside(node)]
    while queue:
        child, outer = queue.pop()
        if isinstance(child, ast.Name):
            found[outer].named.add(child.id)
            if isinstance(child.ctx, ast.Store):
                found[outer].stored.add(child.id)
        elif isinstance(child, _FUNCTIONS):
            around.append((child, outer))
            found[child] = _Names()
            outer = child
        queue += [(grandchild, outer) for grandchild in inside(child)]
    for inner, outer in reversed(around):
        names, more = found[outer], found[inner]
        names.named |= more.named
        names.stored |= more.stored
        names.inside |= more.named
    return found
