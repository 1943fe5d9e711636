"""A module whose file was edited: whether it still defines what it did, and which of its functions differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from syncscan.check.infer.source.fields import says_so
from syncscan.check.infer.source.index import Class, Function, Import, Module
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.merge import merge


@dataclass(frozen=True, slots=True)
class ModuleEdit:
    """What an edit has made of a module that defines what it did."""

    functions: tuple[Function, ...]  # whose source differs, and those in or around them
    dropped: tuple[ast.AST, ...] = ()  # nodes that are no part of it any more
    lines: tuple[str, ...] = ()  # of it as it was, and as it is

    def mentions(self, name: str) -> bool:
        """Whether a name stands in the module, or stood there."""
        return any(name in line for line in self.lines)


def edit(module: Module, tree: ast.Module, lines: list[str]) -> ModuleEdit | None:
    """Make a module what its file is now, if it defines the same; else None, and the module is of no use any more."""
    if module.may_declare_kept or says_so(lines):  # which others may have read
        return None
    before = _described(module)
    merged = merge(module.tree, tree, module.lines, lines)
    now = index_module(module.name, module.path, module.tree, lines, is_package=module.is_package)
    if merged.heads or _described(now) != before:
        return None
    functions = _families(module, {*merged.changed})
    if not all(map(_calls_what_it_called, functions)):
        return None
    both = (*module.lines, *lines)
    module.lines[:] = lines
    return ModuleEdit(functions, tuple(merged.dropped), both)


def _families(module: Module, changed: set[ast.AST]) -> tuple[Function, ...]:
    """The functions of some nodes, with all that are defined in the same outermost function.

    A lambda in a default belongs to the function around, and is met in both.
    """
    outermost = {_outermost(function) for function in module.functions if function.node in changed}
    if module.body in outermost:
        outermost |= {_outermost(function) for function in module.functions if _has_lambda(function)}
    return tuple(function for function in module.functions if _outermost(function) in outermost)


def _has_lambda(function: Function) -> bool:
    defaults = (parameter.default for parameter in function.parameters if parameter.default is not None)
    return any(isinstance(node, ast.Lambda) for default in defaults for node in ast.walk(default))


def _outermost(function: Function) -> Function:
    while function.parent is not None:
        function = function.parent
    return function


def _calls_what_it_called(function: Function) -> bool:
    """Whether a method calls the private methods of its object that it called, as far as that was asked."""
    known, function.calls_of_its_own = function.calls_of_its_own, None
    return known is None or known == function.own_calls()


def _described(module: Module) -> list[object]:
    """All that a module defines, without where it stands and what its functions do."""
    defined: list[Function | Class] = [*module.functions, *module.classes]
    numbers = {each: number for number, each in enumerate(defined)}
    return [
        {name: _named(what, numbers) for name, what in module.names.items()},
        {name: ast.dump(node) for name, node in module.aliases.items()},
        sorted(module.globals),
        [[*_of_function(function, numbers)] for function in module.functions],
        [[*_of_class(cls, numbers)] for cls in module.classes],
    ]


def _named(what: Function | Class | Import, numbers: dict[Function | Class, int]) -> object:
    return what if isinstance(what, Import) else numbers.get(what)


def _of_function(function: Function, numbers: dict[Function | Class, int]) -> Iterator[object]:
    yield function.node
    yield function.qualname
    yield function.owner and numbers.get(function.owner)
    yield function.parent and numbers.get(function.parent)
    yield [(p.name, p.annotation, p.default, p.star, p.keyword_only) for p in function.parameters]
    yield {name: numbers.get(each) for name, each in function.children.items()}
    yield sorted(function.global_names)
    yield sorted(function.nonlocal_names)
    yield function.is_generator


def _of_class(cls: Class, numbers: dict[Function | Class, int]) -> Iterator[object]:
    yield cls.node
    yield cls.qualname
    yield cls.parent and numbers.get(cls.parent)
    yield {name: numbers.get(each) for name, each in cls.methods.items()}
    yield {name: numbers.get(each) for name, each in cls.nested.items()}
    yield [*cls.annotations.items()]
    yield sorted(cls.stored)
