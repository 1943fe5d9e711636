"""The expression that calls: what stands before the brackets, and what in them."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.call import Call
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.registry import EXPRESSIONS, register
from syncscan.check.infer.evaluators.containers import note_added
from syncscan.check.infer.evaluators.functions import call_function
from syncscan.check.infer.evaluators.modules import MODULE_METHODS, module_method
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.values.basic import element_of
from syncscan.check.infer.values.lattice import items_of_table, join
from syncscan.model import UNKNOWN, Kind, Value


@register(EXPRESSIONS, ast.Call)
def _call(frame: Frame, node: ast.Call) -> Value:
    function = node.func
    value = (
        _method_call(frame, node, function)
        if isinstance(function, ast.Attribute)
        else frame.call(frame.evaluate(function), _with_arguments(frame, node))
    )
    if frame.rebound:
        _note_rebound(frame)
    return value


def _method_call(frame: Frame, node: ast.Call, function: ast.Attribute) -> Value:
    if _is_super(function.value):
        return _call_super(frame, function.attr, _with_arguments(frame, node))
    base = frame.evaluate(function.value)
    known = frame.env.get(frame.path(function))
    call = _with_arguments(frame, node)
    if known is not None and known.kind is not Kind.UNKNOWN:
        return frame.call(known, call)
    value = frame.call_method(base, function.attr, call)
    note_added(frame, function, base, call)
    return value


def _with_arguments(frame: Frame, node: ast.Call) -> Call:
    """The call with its arguments in order; ``*args`` gives its items if they are known."""
    args: list[Value] = []
    for arg in node.args:
        value = frame.evaluate(arg)
        if isinstance(arg, ast.Starred):
            items = value.items if value.kind is not Kind.UNION else None
            args += items if items is not None else [element_of(value)]
        else:
            args.append(value)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = frame.evaluate(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif value.kind is Kind.DICT:
            kwargs |= {
                name: item for name, item in (items_of_table(value) or {}).items() if isinstance(name, str)
            }
    return Call(args, kwargs, node)


def _note_rebound(frame: Frame) -> None:
    """Note what nested functions may have made of the names of this one, now that one may have run."""
    function, captured = frame.function, frame.context.known.captured
    for name in frame.rebound:
        if name in frame.env:
            frame.env[name] = join(frame.env[name], frame.read(captured[function, name]))


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _call_super(frame: Frame, name: str, call: Call) -> Value:
    cls = _enclosing_class(frame.function)
    if cls is None:
        return UNKNOWN
    frame.asks(cls, name)
    itself = Value(Kind.INSTANCE, payload=cls)
    for base in cls.mro()[1:]:
        if name in base.methods:
            return call_function(frame, base.methods[name], call.on(itself))
    is_inherited = cls.is_module and name in MODULE_METHODS and name != "__call__"
    return module_method(frame, itself, name, call) if is_inherited else UNKNOWN


def _enclosing_class(function: Function) -> Class | None:
    scope: Function | None = function
    while scope is not None and scope.owner is None:
        scope = scope.parent
    return scope.owner if scope is not None else None
