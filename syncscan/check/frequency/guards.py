"""Tests that let statements run once: they ask what outlives the call, and what they guard changes the answer.

Examples are ``if self._x is None: self._x = ...``, a cache that is asked for a key, and
``if n > self.max_len: self.max_len = n``, and a flag that is cleared, ``if self._is_new: self._is_new = False``, or set.
A method of the object may do the same, or the statements behind ``if self._x is not None: return``.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.indexer import blocks_of
from syncscan.check.infer.source.syntax import last_name, path_of, walk

Body = Sequence[ast.stmt]

_SIZES = re.compile(r".*(max|size|len|shape|numel|cached|capacity|longest).*")
_LAYER = re.compile(r"(.*_)?(layer|module|model)")
CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__"})
_PLACES = frozenset({"device", "dtype"})  # device and dtype change with the model, and not from step to step


def once_behind(node: ast.If, before: ast.stmt | None, after: Body, function: Function) -> Iterator[Body]:
    """Yield the statements that a test lets run once: a branch of it, or what comes after one that returns."""
    if _Guard(before, function, node.body).lets_once(node.test, holds=True):
        yield node.body
    returns = not node.orelse and isinstance(node.body[-1], ast.Return)
    rest = after if returns else node.orelse
    if rest and _Guard(before, function, rest, follows=returns).lets_once(node.test, holds=False):
        yield rest


@dataclass(frozen=True)
class _Guard:
    """The statements behind a test, with the statement before the test and the function around them."""

    before: ast.stmt | None
    function: Function
    body: Body
    follows: bool = False  # a statement that returns

    def lets_once(self, test: ast.expr, *, holds: bool) -> bool:
        """Return whether the guarded statements stop the test from coming out as ``holds`` again."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.lets_once(test.operand, holds=not holds)
        if isinstance(test, ast.BoolOp):
            return self._combines(test, holds=holds)
        if isinstance(test, ast.Compare):
            return len(test.ops) == 1 and self._compares(test.left, test.ops[0], test.comparators[0], holds)
        if isinstance(test, ast.Call) and last_name(test.func) == "hasattr" and test.args:
            return not holds and path_of(test.args[0]).partition(".")[0] in {"self", "cls"}
        if holds:
            return self._clears(path_of(test))
        # A loop of a caller may go on until something is found: `if self.done: return`, and then `self.done = ...`.
        asked = _asked(test)
        return self._sets(asked, to_constant=self.follows) or self._fills(test) or self._sets_behind(asked)

    def _combines(self, test: ast.BoolOp, *, holds: bool) -> bool:
        parts = [self.lets_once(part, holds=holds) for part in test.values]
        if isinstance(test.op, ast.And) is holds:
            return any(parts)
        return all(parts) or (any(parts) and self._is_of_a_cache(test.values, parts, holds=holds))

    def _is_of_a_cache(self, values: Sequence[ast.expr], parts: Sequence[bool], *, holds: bool) -> bool:
        """Return whether all other parts compare a cache's key.

        An example is ``self.x is None or self.n != n``, and then ``self.n = n``.
        """
        return all(
            isinstance(part, ast.Compare)
            and len(part.ops) == 1
            and isinstance(part.ops[0], (ast.Eq, ast.NotEq))
            and isinstance(part.ops[0], ast.NotEq) is holds
            and any(self._sets(path_of(side)) for side in (part.left, part.comparators[0]))
            for part, once in zip(values, parts, strict=True)
            if not once
        )

    def _compares(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, holds: bool) -> bool:
        if isinstance(operator, (ast.In, ast.NotIn)):
            return isinstance(operator, ast.NotIn) is holds and self._puts_into(path_of(right))
        if isinstance(operator, (ast.Is, ast.IsNot)):
            is_none = isinstance(right, ast.Constant) and right.value is None
            asks = is_none and isinstance(operator, ast.Is) is holds
            return asks and (self._sets(_asked(left)) or self._fills(left))
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            differs = isinstance(operator, ast.NotEq) is holds
            return differs and any(self._sets(_placed(side) or _keyed(side)) for side in (left, right))
        grows = isinstance(operator, (ast.Gt, ast.GtE)) is holds
        sized = _sized(right if grows else left)
        return self._sets(sized) and not self._is_changed_above(sized)

    def _sets(self, path: str, *, to_constant: bool = False) -> bool:
        """Return whether the statements, or methods that they call, set the persistent value at a path."""
        path = self._returned_by(path)
        is_set = self._is_kept(path) and any(
            path_of(target) == path and (not to_constant or isinstance(value, ast.Constant))
            for target, value in self._assigned()
        )
        return is_set and not self._is_taken_back(path)

    def _clears(self, path: str) -> bool:
        """Return whether the statements clear an attribute of the object that only the constructors of its class set.

        An example is ``if self._is_new: ...``, and then ``self._is_new = False``. Bases are not asked: guards are read
        again where their own file is edited.
        """
        owner = self.function.owner
        if owner is None or not path.startswith("self.") or not _set_in(self.body, path):
            return False
        by_makers, by_others = _set_by(owner)
        return path in by_makers and all(map(_is_false, by_others.get(path, ())))

    def _sets_behind(self, path: str) -> bool:
        """Return whether the function later sets a flag that no method clears: ``if not self._ran: ...``, then ``self._ran = True``."""
        owner = self.function.owner
        is_own = path.startswith("self.") and path.count(".") == 1 and self._is_kept(path)
        if owner is None or self.follows or not is_own or not self._reaches_a_setting_of(path):
            return False
        return all(map(_is_true, _set_by(owner)[1].get(path, ())))

    def _reaches_a_setting_of(self, path: str) -> bool:
        """Return whether the function sets a flag after the guard in each case, and does not return before."""
        node = self.function.node
        body = [] if isinstance(node, ast.Lambda) else node.body
        end = self.body[-1].end_lineno or 0
        later = [each for each in body if each.lineno > end and isinstance(each, ast.Assign)]
        line = next((each.lineno for each in later if any(map(_is_true, _set_in([each], path)))), 0)
        between = range(self.body[0].lineno, line)
        return line > 0 and not any(
            isinstance(each, ast.Return) and each.lineno in between for each in walk(node)
        )

    def _is_changed_above(self, path: str) -> bool:
        """Return whether the function changes a path in place before the test: the guard then holds a value within bounds."""
        node, start = self.function.node, self.body[0].lineno
        return any(
            isinstance(each, ast.AugAssign) and path_of(each.target) == path and each.lineno < start
            for each in walk(node)
        )

    def _is_taken_back(self, path: str) -> bool:
        """Return whether the function later clears a path: then the next call fills the path again."""
        end = self.body[-1].end_lineno or 0
        return not isinstance(self.function.node, ast.Lambda) and any(
            path_of(target) == path and isinstance(value, ast.Constant) and not value.value
            for target, value in _assignments(self.function.node.body)
            if target.lineno > end
        )

    def _returned_by(self, path: str) -> str:
        """Return the path that a property of the same class returns; for other paths, the path itself."""
        owner, _, name = path.rpartition(".")
        method = self.function.owner.methods.get(name) if owner == "self" and self.function.owner else None
        if method is None or not method.is_property or not isinstance(method.node, ast.FunctionDef):
            return path
        last = method.node.body[-1]
        return path_of(last.value) if isinstance(last, ast.Return) and last.value is not None else path

    def _is_kept(self, path: str) -> bool:
        """Return whether a path outlives the call, and is no field of a record: a record is often created for a single step."""
        owner = self.function.owner
        is_record = owner is not None and any("dataclass" in name for name in owner.decorators)
        return self._outlives(path) and not (is_record and path.startswith("self."))

    def _outlives(self, path: str) -> bool:
        """Return whether a path outlives the call: a global, or an attribute of the object, of a global or of a layer.

        Another argument may be of a single step, and so may what a method puts into an attribute.
        """
        root, *names = path.split(".")
        owner = self.function.owner
        if not names:
            return path in self.function.global_names
        if owner is None or root not in {"self", "cls"}:
            return not _is_local(root, self.function) or self._lives_on(root, names)
        return len(names) == 1 or f"{root}.{names[0]}" not in _set_by(owner)[1]

    def _lives_on(self, variable: str, names: Sequence[str]) -> bool:
        """Return whether a variable is a layer by its name, or holds part of something that outlives the call."""
        if _LAYER.fullmatch(variable):
            return True
        node = self.function.node
        values = _set_in(node.body, variable) if not isinstance(node, ast.Lambda) else []
        taken = path_of(values[0]) if len(values) == 1 and values[0] is not None else ""
        root = taken.partition(".")[0]
        is_part = "." in taken and (root in {"self", "cls"} or not _is_local(root, self.function))
        return is_part and self._outlives(".".join((taken, *names)))

    def _assigned(self) -> Iterator[tuple[ast.expr, ast.expr | None]]:
        yield from _assignments(self.body)
        methods = self.function.owner.methods if self.function.owner is not None else {}
        for name in _methods_called(self.body) & methods.keys():
            node = methods[name].node
            if isinstance(node, ast.FunctionDef):
                yield from _assignments(node.body)

    def _fills(self, asked: ast.expr) -> bool:
        """Return whether a value is read by ``v := self.x`` or ``v = d.get(k)``, and then stored there."""
        if isinstance(asked, ast.NamedExpr):
            return self._stores(asked.value)
        before = self.before
        if not isinstance(before, ast.Assign) or path_of(before.targets[0]) != path_of(asked):
            return False
        return self._stores(before.value)

    def _stores(self, read: ast.expr) -> bool:
        """Return whether the statements store what an expression reads: an attribute, or a key of a table."""
        return self._sets(_asked(read)) or self._puts_into(_looked_up_in(read))

    def _puts_into(self, cache: str) -> bool:
        """Return whether the statements store into a table that outlives the call."""
        # A record may be of a single step, but not one with a table of its own.
        return (self._outlives(cache) or cache.isupper() or _is_global(cache, self.function)) and any(
            isinstance(target, ast.Subscript) and path_of(target.value) == cache
            for target, _ in _assignments(self.body)
        )


_Values = dict[str, list["ast.expr | None"]]  # by the path to which they are assigned


def _set_by(cls: Class) -> tuple[_Values, _Values]:
    """Return what the constructors of a class assign, and what its other methods assign."""
    return _set_by_methods(tuple(method.node for method in cls.methods.values()))


@functools.lru_cache(maxsize=16)  # the methods of a class follow one another
def _set_by_methods(methods: tuple[ast.AST, ...]) -> tuple[_Values, _Values]:
    found: tuple[_Values, _Values] = ({}, {})
    for node in methods:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            known = found[node.name not in CONSTRUCTORS]
            for target, value in _assignments(node.body):
                if isinstance(target, ast.Tuple):  # each is set to something
                    for each in target.elts:
                        known.setdefault(path_of(each), []).append(None)
                else:
                    known.setdefault(path_of(target), []).append(value)
    return found


def _is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _set_in(body: Body, path: str) -> list[ast.expr | None]:
    """Return the values that statements assign to a path."""
    return [value for target, value in _assignments(body) if path_of(target) == path]


def _is_global(name: str, function: Function) -> bool:
    """Return whether a name is a global of the file, not shadowed by a function around."""
    return name in function.module.globals and not _is_local(name, function)


def _is_local(name: str, function: Function) -> bool:
    """Return whether a name is a parameter or a variable of a function or of one around it."""
    around: Function | None = function
    while around is not None and not _has_its_own(around, name):
        around = around.parent
    return around is not None


def _has_its_own(function: Function, name: str) -> bool:
    if name in function.by_name or name in function.global_names:
        return name in function.by_name
    names = (node for node in walk(function.node) if isinstance(node, ast.Name))
    return any(node.id == name and isinstance(node.ctx, ast.Store) for node in names)


def _asked(node: ast.expr) -> str:
    """Return the path of an expression; ``getattr(self, "x", None)`` has that of ``self.x``."""
    if not isinstance(node, ast.Call):
        return path_of(node)
    constants = [each.value for each in node.args[1:] if isinstance(each, ast.Constant)]
    if last_name(node.func) != "getattr" or not constants or any(constants[1:]):
        return ""
    owner, name = path_of(node.args[0]), constants[0]
    is_named = isinstance(name, str) and len(node.args) == 1 + len(constants)
    return f"{owner}.{name!s}" if owner and is_named else ""


def _looked_up_in(node: ast.expr) -> str:
    """Return the ``d`` of ``d.get(k)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return path_of(node.func.value)
    return ""


def _placed(node: ast.expr) -> str:
    """Return the ``self.x`` of ``self.x.device``."""
    return path_of(node.value) if isinstance(node, ast.Attribute) and node.attr in _PLACES else ""


def _keyed(node: ast.expr) -> str:
    """Return the path of an expression named like a key: ``self._table_key``. ``self.count`` may differ in every step."""
    return path_of(node) if last_name(node).endswith("_key") else ""


def _sized(node: ast.expr) -> str:
    """Return the path whose size an expression is, or the path of a stored size: ``self.x.size(1)``, ``self.max_len``."""
    if isinstance(node, ast.Call) and last_name(node.func) == "len" and node.args:
        return path_of(node.args[0])
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Attribute) and node.attr in {"size", "shape", "numel"}:
        return path_of(node.value)
    return path_of(node) if _SIZES.fullmatch(last_name(node)) else ""


def _methods_called(body: Body) -> set[str]:
    """Return the ``m`` of each ``self.m()``."""
    calls = (inner.func for node in body for inner in walk(node) if isinstance(inner, ast.Call))
    return {call.attr for call in calls if isinstance(call, ast.Attribute) and path_of(call.value) == "self"}


def _assignments(body: Iterable[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the targets of assignments in statements, each with its value."""
    for statement in body:
        for target in getattr(statement, "targets", None) or (getattr(statement, "target", None),):
            if target is not None:
                yield target, getattr(statement, "value", None)
        for inner in blocks_of(statement):
            yield from _assignments(inner)
