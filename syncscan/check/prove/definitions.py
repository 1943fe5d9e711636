"""Walking definitions: decorators and defaults run where a function is defined, the body of a class where that is."""

from __future__ import annotations

import ast

from syncscan.check.infer.source.index import Class, Function
from syncscan.check.prove.frame import WalkFrame
from syncscan.check.prove.identity import gives_back
from syncscan.check.prove.names import definition_value
from syncscan.check.prove.packages import TRANSPARENT_DECORATORS
from syncscan.check.prove.values import TOP, AbstractValue
from syncscan.model import Kind


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
    env = dict(frame.env)
    outer, frame.class_body = frame.class_body, cls
    frame.run(node.body)
    frame.class_body, frame.env = outer, env
    return definition_value(cls)


def decorate(frame: WalkFrame, node: ast.AST, function: Function | Class) -> bool:
    """Walk the decorators of a function or a class; return whether a call of it gives what its own body returns."""
    is_plain = True
    for name, definition in frame.source.decoration(function):
        if isinstance(definition, Function):
            frame.calls(node, definition)
            is_plain = is_plain and gives_back(definition)
        elif isinstance(definition, Class):
            for method in ("__init__", "__call__", "__get__"):
                for each in frame.source.overrides(definition, method):
                    frame.calls(node, each)
            is_plain = False
        elif name.rpartition(".")[2] in {"setter", "getter", "deleter"} or name in TRANSPARENT_DECORATORS:
            continue
        else:
            if frame.prover.ran.called(frame.module, node) is None:  # else the run says what the call reached
                frame.unknown(node, f"the decorator `@{name}` of `{function.qualname}` is not known")
            is_plain = False
    return is_plain


def is_context(function: Function) -> bool:
    """Return whether calls of a function make a context of a generator."""
    return any(
        name.rpartition(".")[2] in {"contextmanager", "asynccontextmanager"} for name in function.decorators
    )


CONTEXT = AbstractValue(Kind.INSTANCE, payload="contextlib.contextmanager")
