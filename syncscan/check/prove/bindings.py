"""The names that the top of a module binds itself, and the stars of other modules, which may bind more."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from syncscan.check.infer.source.index import ALL, Class, Function, Import, Module, imported_names
from syncscan.check.infer.source.syntax import last_name
from syncscan.check.prove.uses import blocks_of, stored_names


class SetByFunction(NamedTuple):
    """A variable of a module that a function sets, which declares it global."""

    function: Function


Binding = Function | Class | Import | SetByFunction | ast.AST
# The function or the class that a statement defines, where the project knows it.
Defined = Callable[[Module, ast.AST], Function | Class | None]


@dataclass(slots=True)
class Bindings:
    """The names that the top of a module binds, each with everything that binds it."""

    by_name: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)  # modules of ``from x import *``


def bindings_of(module: Module, defined: Defined) -> Bindings:
    """Return the bindings at the top of a module."""
    found = Bindings()
    for name, binding in _of_block(module, module.tree.body, defined):
        if name.startswith(ALL):
            found.stars.append(name.removeprefix(ALL))
        else:
            found.by_name.setdefault(name, []).append(binding)
    for function in module.functions:
        for name in function.global_names:
            found.by_name.setdefault(name, []).append(SetByFunction(function))
    return found


def _of_block(module: Module, body: Iterable[ast.stmt], defined: Defined) -> Iterator[tuple[str, Binding]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            definition = defined(module, node)
            if not (isinstance(definition, Function) and _is_overload(definition)):
                yield node.name, definition or node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from imported_names(node, module).items()
        else:
            yield from ((name, node) for name in stored_names(node))
            for block in blocks_of(node):
                yield from _of_block(module, block, defined)


def _is_overload(function: Function) -> bool:
    return any(each.rpartition(".")[2] == "overload" for each in function.decorators)


def bound_at_run(module: Module, body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names that the top of a module binds, outside of ``if TYPE_CHECKING``."""
    for node in body:
        if isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from imported_names(node, module)
        else:
            yield from stored_names(node)
            for block in blocks_of(node):
                yield from bound_at_run(module, block)
