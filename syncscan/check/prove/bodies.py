"""Bodies of classes: the names that they assign, and the functions that stand in the assigned values."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.syntax import last_name, walk
from syncscan.check.prove.outline import Outline, body_targets, statements_of
from syncscan.syntax.names import dotted_name

_BUILTINS = frozenset(dir(builtins))
_OUTSIDE = sys.stdlib_module_names | {"pydantic", "torch", "numpy"}
# Values that describe no attribute.
_DATA = (
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.Lambda,
    ast.JoinedStr,
    ast.UnaryOp,
    ast.Compare,
)


def related_to(cls: Class) -> tuple[Class, ...]:
    """Return the classes that objects of a class, or of one below it, may get attributes and methods from."""
    return tuple(dict.fromkeys((*cls.mro(), *(above for below in cls.subclasses for above in below.mro()))))


class Bodies:
    """The assignments in the bodies of a project's classes, by name."""

    def __init__(self, modules: Sequence[tuple[Module, Outline]], program: Any, scopes: Any) -> None:
        self._program = program
        self._scopes = scopes
        self._assigning: dict[str, dict[Class, None]] = {}
        self._names: dict[Class, list[str]] = {}
        for module, outline in modules:
            for position, name in outline.assigned:
                self._assigning.setdefault(name, {})[module.classes[position]] = None
                self._names.setdefault(module.classes[position], []).append(name)
        self._functions: dict[tuple[Class, str], tuple[Function, ...]] = {}

    def assigning(self, name: str) -> Iterable[Class]:
        """Return the classes whose bodies assign a name."""
        return self._assigning.get(name, ())

    def names(self, cls: Class) -> Sequence[str]:
        """Return the names that the body of a class assigns."""
        return self._names.get(cls, ())

    def values(self, classes: Iterable[Class], name: str) -> Iterator[tuple[Class, ast.expr]]:
        """Yield the values that the bodies of some classes assign to a name, annotated ones too."""
        by_class = self._assigning.get(name, {})
        for each in classes if by_class else ():
            for node in statements_of(each.node.body) if each in by_class else ():
                value = getattr(node, "value", None)
                if isinstance(value, ast.expr) and name in body_targets(node):
                    yield each, value

    def plain(self, classes: Iterable[Class], name: str) -> Iterator[ast.expr]:
        """Yield the values that the bodies of some classes assign to a name without an annotation."""
        by_class = self._assigning.get(name, {})
        for each in classes if by_class else ():
            for node in statements_of(each.node.body) if each in by_class else ():
                if isinstance(node, ast.Assign) and name in body_targets(node):
                    yield node.value

    def class_variable(self, cls: Class, name: str) -> ast.expr | None:
        """Return the annotation of a variable of a class, ``ClassVar[bool]``, which is no field of its objects."""
        for node in statements_of(cls.node.body) if cls in self.assigning(name) else ():
            if isinstance(node, ast.AnnAssign) and name in body_targets(node):
                return node.annotation
        return None

    def functions(self, cls: Class, name: str) -> tuple[Function, ...]:
        """Return the functions in the values that the body of a class assigns to a name: ``size = property(_size)``."""
        key = (cls, name)
        found = self._functions.get(key)
        if found is None:
            values = [value for _, value in self.values((cls,), name) if not _is_default(value)]
            each = dict.fromkeys(one for value in values for one in self._in(cls, value))
            found = self._functions[key] = tuple(each)
        return found

    def functions_of(self, classes: Iterable[Class], name: str) -> list[Function]:
        """Return the functions in the values that the bodies of any of some classes assign to a name."""
        by_class = self._assigning.get(name, {})
        found = [each for each in classes if each in by_class] if by_class else []
        return [function for each in found for function in self.functions(each, name)]

    def may_describe(self, classes: Iterable[Class], name: str, special: str) -> bool:
        """Return whether the body of any of some classes may assign an object that describes an attribute: ``size = Size()``.

        ``special`` is the method that the class of such an object has.
        """
        return any(self._may_have(cls, value, special) for cls, value in self.values(classes, name))

    def _may_have(self, cls: Class, value: ast.expr, special: str) -> bool:
        """Return whether an object may have a special method: it is of such a class, or of an unknown one of the project."""
        name = (
            ""
            if isinstance(value, _DATA)
            else dotted_name(value.func if isinstance(value, ast.Call) else value)
        )
        found = self._program.lookup_dotted(cls.module, name, cls.parent) if name else None
        if isinstance(found, Class) and isinstance(value, ast.Call):
            return any(
                special in (*each.methods, *self.names(each)) for each in (*found.mro(), *found.subclasses)
            )
        if isinstance(value, _DATA) or isinstance(found, Class) or self._is_member(cls, name):
            return False
        is_outside = isinstance(found, str) and found.partition(".")[0] in _OUTSIDE
        return not (is_outside or (found is None and name in _BUILTINS))

    def _is_member(self, cls: Class, name: str) -> bool:
        """Return whether a dotted name is of a member of an enumeration."""
        owner = (
            self._program.lookup_dotted(cls.module, name.rpartition(".")[0], cls.parent)
            if "." in name
            else None
        )
        bases = (
            [base for each in owner.mro() for base in each.external_bases] if isinstance(owner, Class) else []
        )
        return any(base.startswith("enum.") for base in bases)

    def _in(self, cls: Class, value: ast.expr) -> Iterator[Function]:
        """Yield the functions that an expression in the body of a class names, defines, or makes by a call."""
        for node in walk(value):
            if isinstance(node, ast.Lambda):
                yield self._scopes.function_of(node, cls.parent or cls.module.body, None)
            elif isinstance(node, ast.Name | ast.Attribute):
                yield from self._named(cls, node, value)

    def _named(self, cls: Class, node: ast.Name | ast.Attribute, value: ast.expr) -> Iterator[Function]:
        found = cls.methods.get(node.id) if isinstance(node, ast.Name) else None
        name = dotted_name(node)
        if found is None and name:
            found = self._program.lookup_dotted(cls.module, name, cls.parent)
        if isinstance(found, Function):
            yield found
            is_called = any(isinstance(each, ast.Call) and each.func is node for each in walk(value))
            yield from (each for each in found.children.values() if is_called and isinstance(each, Function))


def _is_default(value: ast.expr) -> bool:
    """Return whether a value declares the default of a field: ``field(default_factory=list)``."""
    return isinstance(value, ast.Call) and last_name(value.func) in {"field", "Field"}
