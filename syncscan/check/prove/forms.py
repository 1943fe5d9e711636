"""Forms of functions and classes: the facts of their source that other files read, which need not parse the file for them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.infer.source.syntax import last_name, own_nodes
from syncscan.check.nesting import parse_expression
from syncscan.check.prove.identity import returned_parameter


class FunctionForm(NamedTuple):
    """The form of a function."""

    is_decorated: bool
    is_async: bool
    yields: bool
    returned: str  # the parameter that every call returns as it is, or ""
    result: str  # the annotation of the result, or ""


class ClassForm(NamedTuple):
    """The form of a class."""

    bases: int  # but `object`
    is_decorated: bool
    has_keywords: bool


class Forms:
    """The forms of all definitions; those of a file that an earlier proof has seen are not computed."""

    def __init__(self, kept: Mapping[str, Sequence[Any]]) -> None:
        """Take the data of files, by path."""
        self._kept = kept
        self._functions: dict[Function, FunctionForm] = {}
        self._classes: dict[Class, ClassForm] = {}
        self._results: dict[Function, ast.expr | None] = {}

    def of_function(self, function: Function) -> FunctionForm:
        """Return the form of a function."""
        found = self._functions.get(function)
        if found is None and not function.is_lambda:
            self._restore(function.module)
            found = self._functions.get(function)
        if found is None:
            found = self._functions[function] = _form_of(function)
        return found

    def of_class(self, cls: Class) -> ClassForm:
        """Return the form of a class."""
        found = self._classes.get(cls)
        if found is None:
            self._restore(cls.module)
            found = self._classes.get(cls)
        if found is None:
            found = self._classes[cls] = _form_of_class(cls)
        return found

    def result(self, function: Function) -> ast.expr | None:
        """Return the annotation of a function's result."""
        if function.module.unread is None:
            return function.result
        if function not in self._results:
            text = self.of_function(function).result
            self._results[function] = parse_expression(text) if text else None
        return self._results[function]

    def data(self, module: Module) -> Sequence[Any]:
        """Return the forms of a file as data."""
        kept = self._kept.get(module.path)
        return (
            kept
            if kept is not None
            else [[*map(_form_of, module.functions)], [*map(_form_of_class, module.classes)]]
        )

    def _restore(self, module: Module) -> None:
        functions, classes = self._kept.get(module.path, ((), ()))
        for function, form in zip(module.functions, functions, strict=False):
            self._functions[function] = FunctionForm(*form)
        for cls, form in zip(module.classes, classes, strict=False):
            self._classes[cls] = ClassForm(*form)


def _form_of(function: Function) -> FunctionForm:
    result = ast.unparse(function.result) if function.result is not None else ""
    is_decorated = bool(getattr(function.node, "decorator_list", None))
    is_async = isinstance(function.node, ast.AsyncFunctionDef)
    return FunctionForm(is_decorated, is_async, _yields(function), returned_parameter(function), result)


def _form_of_class(cls: Class) -> ClassForm:
    heads = [each.value if isinstance(each, ast.Subscript) else each for each in cls.node.bases]
    shown = [each for each in heads if last_name(each) != "object"]
    return ClassForm(len(shown), bool(cls.node.decorator_list), bool(cls.node.keywords))


def _yields(function: Function) -> bool:
    """Return whether the body of a function yields, in an expression too."""
    if function.is_generator or isinstance(function.node, ast.Module):
        return function.is_generator
    if "yield" not in function.module.lines.text:
        return False
    body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(body))
