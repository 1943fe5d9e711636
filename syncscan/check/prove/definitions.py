"""Walking definitions: decorators and defaults run where a function is defined, the body of a class where that is."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Class
from syncscan.check.prove.decorators import decorate
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.names import definition_value
from syncscan.check.prove.special import runs_any, runs_method
from syncscan.check.prove.values import TOP, AbstractValue


def defined_function(frame: WalkFrame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> AbstractValue:
    """Walk the defaults and decorators of a function that is defined here; return the function."""
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if default is not None:
            frame.evaluate(default)
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            for argument in [*decorator.args, *(keyword.value for keyword in decorator.keywords)]:
                frame.evaluate(argument)
    function = frame.source.function_at(frame.module, node)
    if function is None:
        return TOP
    if node.decorator_list and frame.function.node is not frame.module.tree:
        decorate(frame, node, function)
    return definition_value(function)


def defined_class(frame: WalkFrame, node: ast.ClassDef) -> AbstractValue:
    """Walk the body of a class that is defined here; return the class."""
    cls = frame.module.class_at(node)
    if cls is not None and frame.function.node is not frame.module.tree:
        _makes_class(frame, node, cls)
    env = dict(frame.env)
    outer, frame.class_body = frame.class_body, cls
    frame.run(node.body)
    frame.class_body, frame.env = outer, env
    return definition_value(cls)


def _makes_class(frame: WalkFrame, node: ast.ClassDef, cls: Class) -> None:
    """Walk what the definition of a class inside a function runs: its bases, its metaclass, and its decorators."""
    for part in [*node.bases, *(keyword.value for keyword in node.keywords)]:
        frame.evaluate(part)
    decorate(frame, node, cls)
    made = [
        each
        for meta in frame.source.metaclasses(cls)
        for name in _OF_METACLASSES
        for each in frame.source.overrides(meta, name)
    ]
    for method in (*made, *frame.source.above(cls, "__init_subclass__")[0]):
        runs_method(frame, node, method)
    bodies = frame.source.bodies
    if any(bodies.may_describe((cls,), name, "__set_name__") for name in bodies.names(cls)):
        runs_any(frame, node, "__set_name__")


_OF_METACLASSES = ("__prepare__", "__new__", "__init__", "__call__")
