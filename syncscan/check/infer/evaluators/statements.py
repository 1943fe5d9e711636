"""Statements that are neither assignments, branches nor loops: calls, contexts, imports, definitions."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.names import definition
from syncscan.check.infer.evaluate.narrow import full_name
from syncscan.check.infer.evaluate.registry import STATEMENTS, register
from syncscan.check.infer.evaluators.torch_calls import set_default_device
from syncscan.check.infer.source.conventions import allows_waits
from syncscan.check.infer.source.index import Class, Function, imported_names
from syncscan.check.infer.source.syntax import decorators_of, last_name
from syncscan.check.infer.values.basic import element_of
from syncscan.model import UNKNOWN, Kind, Value


@register(STATEMENTS, ast.Expr)
def _expr(frame: Frame, node: ast.Expr) -> bool | None:
    frame.evaluate(node.value)
    return not _ends_program(frame, node.value)


def _ends_program(frame: Frame, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr not in {"exit", "_exit", "skip"}:
        return False
    return full_name(frame, function) in _END_THE_PROGRAM


_END_THE_PROGRAM = frozenset({"sys.exit", "os._exit", "builtins.exit", "pytest.skip"})


@register(STATEMENTS, ast.With, ast.AsyncWith)
def _with(frame: Frame, node: ast.With | ast.AsyncWith) -> bool | None:
    outer = frame.default_device
    for item in node.items:
        value = frame.evaluate(item.context_expr)
        if value.kind is Kind.DEVICE:
            set_default_device(frame, value)
        if item.optional_vars is not None:
            frame.assign(item.optional_vars, _entered(frame, value, item.context_expr))
    names = {_maker(frame, made) for item in node.items for made in _either(item.context_expr)}
    start, meant_outside = frame.env.begin(), frame.waits_are_meant
    frame.waits_are_meant = meant_outside or any(map(allows_waits, names))
    with frame.unsure(unsure=frame.waits_are_meant):
        reached = frame.run(node.body)
    frame.default_device, frame.waits_are_meant = outer, meant_outside
    after = frame.env.rewind(start)
    swallowed = reached is False and not names.isdisjoint(_SWALLOW)
    frame.env.apply(frame.env.meet({}, after) if swallowed else after)
    return swallowed or reached


_SWALLOW = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex"}
)  # the exception that ends the body


def _either(node: ast.expr) -> tuple[ast.expr, ...]:
    """Both sides of ``nullcontext() if captured else gpu_sync_allowed()``."""
    return (*_either(node.body), *_either(node.orelse)) if isinstance(node, ast.IfExp) else (node,)


def _maker(frame: Frame, node: ast.expr) -> str:
    """The own name of the function that makes a context manager, whatever it is called here."""
    if not isinstance(node, ast.Call):
        return ""
    if not isinstance(node.func, ast.Name):
        return last_name(node.func)
    made_by = frame.peek(node.func).payload
    if isinstance(made_by, (Function, Class)):
        return made_by.name
    return (made_by if isinstance(made_by, str) else node.func.id).rpartition(".")[2]


def _entered(frame: Frame, value: Value, node: ast.expr) -> Value:
    """What ``with value as x`` binds."""
    if value.kind is Kind.LIST:  # a generator under contextlib.contextmanager
        return element_of(value)
    if value.kind is Kind.INSTANCE:
        entered = frame.call_method(value, "__enter__", Call((), {}, node))
        return value if entered.kind is Kind.UNKNOWN else entered
    return UNKNOWN


@register(STATEMENTS, ast.Import, ast.ImportFrom)
def _import(frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    if frame.function.node is frame.module.tree:
        return
    for name, target in imported_names(node, frame.module).items():
        frame.asks(target.module, target.name)
        found = frame.context.program.follow(target)
        if found is not None:
            frame.env[name] = definition(found)
        else:
            place = frame.context.program.global_of(target)
            frame.env[name] = frame.read(frame.context.known.globals[place]) if place is not None else UNKNOWN


@register(STATEMENTS, ast.FunctionDef, ast.AsyncFunctionDef)
def _function(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    frame.run(decorators_of(node))
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if default is not None:
            frame.evaluate(default)


@register(STATEMENTS, ast.ClassDef)
def _class(frame: Frame, node: ast.ClassDef) -> None:
    """The body of a class: what it assigns are attributes of the instances."""
    frame.run(decorators_of(node))
    cls = frame.module.class_at(node)
    if cls is None:
        return
    outer, enclosing = frame.env.begin(), frame.class_body
    frame.class_body = cls
    frame.run(node.body)
    frame.class_body = enclosing
    frame.env.undo(outer)
