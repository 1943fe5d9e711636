"""Edits of files: the functions and definitions that differ from the version before."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from syncscan.check.infer.source.fields import declares_same
from syncscan.check.infer.source.index import ALL, FIELDS, Class, Function, Import, Module
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.merge import Merged, Moved, merge, renew
from syncscan.check.infer.source.parameters import Parameter

Defined = TypeVar("Defined", Function, Class)


class NotFollowedError(Exception):
    """An edit is outside the incremental analysis; the caller starts a cold run."""


@dataclass(slots=True)
class ModuleEdit:
    """The differences between two versions of a module.

    The defining node identifies a function or class. A definition whose node survives keeps its identity, and
    all facts about it. Nothing of ``now`` takes effect before `apply`.
    """

    module: Module
    now: Module | None = None  # as its file defines it, where that is not what it did
    functions: list[Function] = field(
        default_factory=list
    )  # whose source differs, and those in or around them
    dropped: list[ast.AST] = field(default_factory=list)  # nodes that are no part of it any more
    texts: tuple[Lines, ...] = ()  # of it as it was, and as it is
    moved: Sequence[Moved] = ()  # lines whose statements are the same
    new: list[Function] = field(default_factory=list)
    gone: list[Function] = field(default_factory=list)
    new_classes: list[Class] = field(default_factory=list)
    gone_classes: list[Class] = field(default_factory=list)
    heads: list[Function] = field(default_factory=list)  # with other parameters, annotations or decorators
    callers: set[Class] = field(default_factory=set)  # whose methods call others of their own objects
    names: set[str] = field(default_factory=set)  # of the module that are something else
    members: dict[Class, set[str]] = field(default_factory=dict)  # of classes, too
    _kept: dict[object, Any] = field(
        default_factory=dict
    )  # the definitions that have stayed, by those of ``now``

    @classmethod
    def whole(cls, module: Module, *, is_new: bool) -> ModuleEdit:
        """Return the edit for a file that is new or deleted."""
        edit = cls(module, texts=(module.lines,))
        edit.names = {*module.names, *module.aliases, *module.globals}
        if is_new:
            edit.functions, edit.new = [*module.functions], [*module.functions]
            edit.new_classes = [*module.classes]
        else:
            edit.gone, edit.gone_classes = [*module.functions], [*module.classes]
        return edit

    @property
    def redefines(self) -> bool:
        """True if the module's definitions change."""
        return self.now is not None or self.is_whole

    @property
    def is_whole(self) -> bool:
        """True for a file that is new or deleted."""
        return self.new_as_a_whole or self.module.body in self.gone

    @property
    def new_as_a_whole(self) -> bool:
        """True for a new file."""
        return self.module.body in self.new

    @property
    def moves(self) -> bool:
        """True if lines outside the changed functions move or change."""
        if len(self.texts) != 2:
            return True
        before, now = (lines.split() for lines in self.texts)
        if len(before) != len(now):
            return True
        differ = [
            number for number, pair in enumerate(zip(before, now, strict=True), 1) if pair[0] != pair[1]
        ]
        nodes = [
            each.node
            for each in self.functions
            if isinstance(each.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        return any(
            not any(node.lineno <= line <= (node.end_lineno or 0) for node in nodes) for line in differ
        )

    def mentions(self, name: str) -> bool:
        """Return whether a name occurs in the old or new text of the module."""
        return any(lines.mention(name) for lines in self.texts)

    # What is found out before anything is taken over

    def compare(self, now: Module, merged: Merged) -> None:
        """Record the differences between the definitions; raise NotFollowedError where definitions cannot be matched."""
        self.now = now
        module = self.module
        self.new, self.gone = self._match(module.functions, now.functions)
        self.new_classes, self.gone_classes = self._match(module.classes, now.classes)
        self.names = self._differing(module.names, now.names) | (module.globals ^ now.globals)
        if module.stars != now.stars:
            self.names |= {name for name in (*module.names, *now.names) if name.startswith(ALL)}
        self.names |= {
            name
            for name in {**module.aliases, **now.aliases}
            if _dumped(module.aliases.get(name)) != _dumped(now.aliases.get(name))
        }
        for each in now.classes:
            if each in self._kept and (names := self._differing_in(self._kept[each], each)):
                self.members[self._kept[each]] = names
        self._compare_heads(merged)

    def _compare_heads(self, merged: Merged) -> None:
        gone = {*self.gone}
        self.heads = [
            each for each in self.module.functions if each.node in merged.heads and each not in gone
        ]
        for function in self.heads:
            if function.owner is not None:
                self.members.setdefault(function.owner, set()).add(function.name)
            elif function.parent is None:
                self.names.add(function.name)

    def _match(
        self, before: Sequence[Defined], now: Sequence[Defined]
    ) -> tuple[list[Defined], list[Defined]]:
        """Match definitions by node, order, name and key; return the new ones and the deleted ones."""
        known: dict[ast.AST, tuple[int, Defined]] = {
            each.node: (number, each) for number, each in enumerate(before)
        }
        last = -1
        for each in now:
            number, kept = known.pop(each.node, (last, each))
            if kept is not each:
                self._kept[each] = kept
            if number < last or (kept.key, kept.qualname) != (each.key, each.qualname):
                raise NotFollowedError
            last = number
        return [each for each in now if each not in self._kept], [gone for _, gone in known.values()]

    def _now(self, what: Any) -> Any:
        """Return the surviving definition for one of ``now``."""
        return self._kept.get(what, what)

    def _differing(self, before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
        return {name for name in {**before, **now} if before.get(name) != self._now(now.get(name))}

    def _differing_in(self, before: Class, now: Class) -> set[str]:
        """Return the names of the members that differ."""
        names = before.stored ^ now.stored
        for one, other in ((before.methods, now.methods), (before.nested, now.nested)):
            names |= self._differing(one, other)
        names |= self._differing(before.annotations, now.annotations)
        return names | ({FIELDS} if names or [*before.annotations] != [*now.annotations] else set())

    # What is taken over

    def apply(self) -> None:
        """Update the module to its new definitions."""
        module, now = self.module, self.now
        if now is not None:
            for function in now.functions:
                self._apply_to_function(function)
            for cls in now.classes:
                self._apply_to_class(cls)
            module.functions = [self._now(each) for each in now.functions]
            module.classes = [self._now(each) for each in now.classes]
            module.names = {name: self._now(what) for name, what in now.names.items()}
            module.aliases, module.globals = now.aliases, now.globals
            module.forget_nodes()
        owners = ((each.owner, each) for each in self.functions)
        self.callers = {cls for cls, each in owners if cls is not None and not _calls_what_it_called(each)}

    def _apply_to_function(self, now: Function) -> None:
        kept: Function = self._now(now)
        kept.module = self.module
        kept.owner, kept.parent = self._now(now.owner), self._now(now.parent)
        kept.children = {name: self._now(each) for name, each in now.children.items()}
        kept.global_names, kept.nonlocal_names = now.global_names, now.nonlocal_names
        kept.is_generator = now.is_generator
        if kept is not now:
            kept.take([*_parameters(kept, now)])

    def _apply_to_class(self, now: Class) -> None:
        kept: Class = self._now(now)
        kept.module, kept.parent = self.module, self._now(now.parent)
        kept.methods = {name: self._now(each) for name, each in now.methods.items()}
        kept.nested = {name: self._now(each) for name, each in now.nested.items()}
        kept.annotations, kept.stored = now.annotations, now.stored


def edit(module: Module, tree: ast.Module, lines: Lines) -> ModuleEdit:
    """Merge a new tree into a module, and return the differences.

    After a NotFollowedError, the module is in an undefined state.
    """
    if not declares_same(module, tree, lines):  # which others may have read
        raise NotFollowedError
    before = _described(module)
    merged = merge(module.tree, tree, module.lines, lines)
    now = _indexed(module, module.tree, lines)
    if others := _others(module, now, merged, tree, lines):
        renew(module.tree, others, merged)
        now = _indexed(module, module.tree, lines)
    del now.lines  # a text for each key stroke, kept until circles are collected
    found = ModuleEdit(module, dropped=merged.dropped, texts=(module.lines, lines), moved=merged.moved)
    module.lines = lines
    if merged.heads or _described(now) != before:
        found.compare(now, merged)
    gone = {*found.gone}
    families = _families(module, {*merged.changed, *merged.heads})
    found.functions = [*(each for each in families if each not in gone), *found.new]
    return found


def _indexed(module: Module, tree: ast.Module, lines: Lines) -> Module:
    return index_module(module.name, module.path, tree, lines, is_package=module.is_package)


def _others(
    module: Module, now: Module, merged: Merged, tree: ast.Module, lines: Lines
) -> dict[ast.AST, ast.stmt]:
    """Return the nodes whose definitions changed their identity, with the nodes of ``tree`` that replace them.

    An identity changes with the key, as after another definition of the same name, and with the head of a
    class.
    """
    keys = {each.node: each.key for each in _definitions(module)}
    others = {each.key for each in _definitions(now) if keys.get(each.node, each.key) != each.key}
    others |= {each.key for each in now.classes if each.node in merged.heads}
    if not others:
        return {}
    pairs = zip(_definitions(now), _definitions(_indexed(module, tree, lines)), strict=True)
    return {each.node: made.node for each, made in pairs if each.key in others}  # type: ignore[misc]  # of statements


def _definitions(module: Module) -> Iterator[Function | Class]:
    yield from module.functions
    yield from module.classes


def _parameters(kept: Function, now: Function) -> Iterator[Parameter]:
    """Yield the parameters of the new version; those of the same name and sort keep their identity."""
    known = {(each.name, each.star, each.keyword_only): each for each in kept.parameters}
    for each in now.parameters:
        same = known.get((each.name, each.star, each.keyword_only), each)
        same.annotation, same.default = each.annotation, each.default
        yield same


def _dumped(node: ast.expr | None) -> str:
    return "" if node is None else ast.dump(node)


def _families(module: Module, changed: set[ast.AST]) -> list[Function]:
    """Return the functions of some nodes, with all functions in the same outermost function.

    A lambda in a default belongs to the enclosing function, and appears in both.
    """
    outermost = {_outermost(function) for function in module.functions if function.node in changed}
    if module.body in outermost:
        outermost |= {_outermost(function) for function in module.functions if _has_lambda(function)}
    return [function for function in module.functions if _outermost(function) in outermost]


def _has_lambda(function: Function) -> bool:
    defaults = (parameter.default for parameter in function.parameters if parameter.default is not None)
    return any(isinstance(node, ast.Lambda) for default in defaults for node in ast.walk(default))


def _outermost(function: Function) -> Function:
    while function.parent is not None:
        function = function.parent
    return function


def _calls_what_it_called(function: Function) -> bool:
    """Return whether the set of private methods that a method calls on its object is unchanged; True if it was never asked."""
    known, function.calls_of_its_own = function.calls_of_its_own, None
    return known is None or known == function.own_calls()


def _described(module: Module) -> list[object]:
    """Return a description of the module's definitions, without positions and function bodies."""
    defined: list[Function | Class] = [*module.functions, *module.classes]
    numbers = {each: number for number, each in enumerate(defined)}
    return [
        {name: _named(what, numbers) for name, what in module.names.items()},
        module.stars,
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
