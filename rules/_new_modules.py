"""New modules: whether the function that makes a module may have moved it before a call that moves it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from syncscan.ops.modules import MOVES, READS, STAYS
from syncscan.rule import Facts
from syncscan.syntax.context import SyntaxContext

from ._parts import is_path

_FOR = (ast.For, ast.AsyncFor)
_LOOPS = (*_FOR, ast.While)

Places = dict[str, list[ast.expr]]  # of each name and attribute path in a function


def is_still_new(call: ast.Call, facts: Facts) -> bool:
    """Return whether the module that a call moves has not been moved, handed on or given another name before.

    Such a module is the result of another call, or has a name that the same function sets, in the same loops. The modules of a container
    that the function fills are such ones, where a loop moves each in turn.
    """
    if not isinstance(call.func, ast.Attribute):  # getattr(module, "cuda")()
        return False
    around = facts.around(call)
    return _Modules(_places_around(call, around), around).is_new(_moved_by(call), call)


def _moved_by(call: ast.Call) -> ast.expr:
    """Return the module that a call moves: `Net()` of `Net().eval().to(device)`."""
    assert isinstance(call.func, ast.Attribute)
    module = call.func.value
    while isinstance(module, ast.Call) and isinstance(module.func, ast.Attribute):
        if module.func.attr not in {*STAYS, "to"}:
            break
        module = module.func.value
    return module


def _places_around(node: ast.AST, around: SyntaxContext) -> Places:
    """Return where the function around a node mentions each name and attribute path."""
    places: Places = defaultdict(list)
    for each in ast.walk(around.root(node)):
        if isinstance(each, (ast.Name, ast.Attribute)) and is_path(each):
            places[around.text.bare_text_of(each)].append(each)
    return places


@dataclass(frozen=True)
class _Modules:
    """The modules of a function, by its syntax."""

    places: Places
    around: SyntaxContext

    def is_new(self, module: ast.AST, at: ast.AST) -> bool:
        """Return whether a module, or each module in a container, is new where a node uses it."""
        if is_path(module):
            return self._is_of_new_value(module, at)
        elements = _elements(module)
        return self._is_made(module) if elements is None else all(self.is_new(each, at) for each in elements)

    def _is_made(self, value: ast.AST) -> bool:
        """Return whether an expression makes modules; a module that has a name already may be moved by that name."""
        elements = _elements(value)
        if elements is not None:
            return all(map(self._is_made, elements))
        return isinstance(value, ast.Call) and self._is_of_new_parts(value)

    def _is_of_new_parts(self, made: ast.Call) -> bool:
        """Return whether a call has no part, as an argument, that the function moves by its name, except under a name set anew."""
        rebound = {self._text(each) for each in getattr(self.around.statement(made), "targets", ())}
        paths = {self._text(each): each for each in ast.walk(made) if is_path(each)}
        return not any(
            _method_of(use, self.around) in MOVES and (text not in rebound or _start(use) < _start(each))
            for text, each in paths.items()
            for use in self.places[text]
        )

    def _is_of_new_value(self, path: ast.AST, at: ast.AST) -> bool:
        """Return whether a path is set to what is new, in the loops of a use, and each use between leaves it new."""
        uses = self.places[self._text(path)]
        made = self._last_set(uses, at)
        reads = [use for use in self._reads_of(path) if _start(use) < _start(at)]
        if made is None:
            return self._is_parameter(path, at) and all(map(self._leaves, reads))
        in_turn = isinstance(made, _FOR)
        value = made.iter if isinstance(made, _FOR) else getattr(made, "value", None) or made
        return (
            self._loops(at) == ([made, *self._loops(made)] if in_turn else self._loops(made))
            and (self.is_new(_container_of(value), made) if in_turn else self._is_made(value))
            and all(self._leaves(use) for use in reads if _start(use) >= _end(value))
        )

    def _is_parameter(self, path: ast.AST, at: ast.AST) -> bool:
        """Return whether a path is a parameter outside of loops: what callers pass that has just been made."""
        function = self.around.root(at)
        is_function = isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        return is_function and self._text(path) in _parameters(function) and not self._loops(at)

    def _last_set(self, uses: list[ast.expr], at: ast.AST) -> ast.stmt | None:
        """Return the statement before a node, not around it, that last sets a path."""
        own = self.around.statement(at)
        statements = [self.around.statement(use) for use in uses if _is_set(use) and _start(use) < _start(at)]
        before = [each for each in statements if isinstance(each, ast.stmt) and each is not own]
        return max(before, key=_start, default=None)

    def _reads_of(self, path: ast.AST) -> list[ast.expr]:
        """Return the uses of a path, and of the objects around it: `self.cuda()` may move what `self.net` is."""
        uses = [use for use in self.places[self._text(path)] if not _is_set(use)]
        while isinstance(path, ast.Attribute):
            path = path.value
            uses += [use for use in self.places[self._text(path)] if not self._is_of_a_part(use)]
        return uses

    def _is_of_a_part(self, use: ast.AST) -> bool:
        """Return whether a use of an object concerns one attribute of it: `self.other.cuda()`, and not `self.cuda()`."""
        return isinstance(self.around.parent(use), ast.Attribute) and not _method_of(use, self.around)

    def _leaves(self, use: ast.AST) -> bool:
        """Return whether a use leaves modules where they are: a read attribute, such a method, or one more new module in a container."""
        read: ast.AST = use
        while isinstance(holder := self.around.parent(read), ast.Attribute):
            read = holder
        if isinstance(holder, ast.Subscript) and isinstance(holder.ctx, ast.Store) and holder.value is use:
            statement = self.around.statement(use)
            return self._is_made(getattr(statement, "value", None) or statement)
        if not isinstance(holder, ast.Call) or holder.func is not read:
            return read is not use
        method = getattr(read, "attr", "")
        if method == "append":
            return all(map(self._is_made, holder.args))
        return method in STAYS | READS and not self._moves_parts(holder)

    def _moves_parts(self, call: ast.Call) -> bool:
        """Return whether what a method of a module gives, or the function that it is given, moves parts of the module."""
        around = self.around.statement(call)
        in_turn = isinstance(around, _FOR) and any(each is call for each in ast.walk(around.iter))
        assigns = any(keyword.arg == "assign" for keyword in call.keywords)
        return assigns or any(
            isinstance(each, ast.Attribute) and each.attr in MOVES
            for part in (*call.args, *([around] if in_turn else []))
            for each in ast.walk(part)
        )

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        return [each for each in self.around.up(node, itself=False) if isinstance(each, _LOOPS)]

    def _text(self, node: ast.AST) -> str:
        return self.around.text.bare_text_of(node)


def _container_of(iterated: ast.AST) -> ast.AST:
    """Return the container that a loop runs over: `nets` of `nets.items()`, `enumerate(nets)`."""
    match iterated:
        case ast.Call(func=ast.Attribute(value=container, attr="items" | "values")):
            return container
        case ast.Call(func=ast.Name(id="enumerate"), args=[container, *_]):
            return container
    return iterated


def _elements(container: ast.AST) -> Sequence[ast.expr] | None:
    """Return the elements that a display or a comprehension makes; None for other expressions."""
    if isinstance(container, (ast.List, ast.Tuple, ast.Set)):
        return container.elts
    if isinstance(container, ast.Dict):
        return container.values
    if isinstance(container, ast.DictComp):
        return [container.value]
    return [container.elt] if isinstance(container, (ast.ListComp, ast.GeneratorExp)) else None


def _parameters(function: ast.AST) -> frozenset[str]:
    arguments = getattr(function, "args", None)
    assert isinstance(arguments, ast.arguments)
    return frozenset(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _method_of(use: ast.AST, around: SyntaxContext) -> str:
    """Return the method that an expression calls on a path, or ""."""
    holder = around.parent(use)
    caller = around.parent(holder) if isinstance(holder, ast.Attribute) else None
    is_called = isinstance(caller, ast.Call) and caller.func is holder
    return holder.attr if is_called and isinstance(holder, ast.Attribute) else ""


def _is_set(use: ast.AST) -> bool:
    return isinstance(getattr(use, "ctx", None), ast.Store)


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
