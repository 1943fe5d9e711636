"""Walking expressions: names, literals, containers, texts, and the truths that conditions ask for."""

from __future__ import annotations

import ast

from syncscan.check.infer.domain.basic import constant
from syncscan.check.infer.domain.callables import BoundMethod
from syncscan.check.infer.source.index import Class, Function
from syncscan.check.infer.source.syntax import walk
from syncscan.check.prove.callbacks import definition_of, receives
from syncscan.check.prove.calls import base_value, call
from syncscan.check.prove.containers import iterates, spreads_mapping
from syncscan.check.prove.frame import EXPRESSIONS, WalkFrame, handles
from syncscan.check.prove.names import name_value
from syncscan.check.prove.narrowing import narrow
from syncscan.check.prove.operators import binary, compare, subscript, unary
from syncscan.check.prove.outline import own_name
from syncscan.check.prove.packages import gives_values
from syncscan.check.prove.python import formats
from syncscan.check.prove.special import hashes, runs, runs_method
from syncscan.check.prove.statements import assign
from syncscan.check.prove.truths import asks_truth, narrowing, truth_of
from syncscan.check.prove.values import (
    BOOL,
    BOTTOM,
    HOST,
    NUMBER,
    STRING,
    TOP,
    UNREACHED,
    AbstractValue,
    join,
    join_all,
    lazily,
    list_of,
    refine,
    sequence,
)
from syncscan.model import Kind

_MOST_ITEMS = 16


@handles(EXPRESSIONS, "Constant")
def _constant(_: WalkFrame, node: ast.Constant) -> AbstractValue:
    if isinstance(node.value, (bytes, type(...))):
        return STRING if isinstance(node.value, bytes) else AbstractValue(Kind.SLICE, items=())
    return constant(node.value)


@handles(EXPRESSIONS, "Name")
def _name(frame: WalkFrame, node: ast.Name) -> AbstractValue:
    return escapes(frame, node, name_value(frame, node.id))


@handles(EXPRESSIONS, "Attribute")
def _attribute(frame: WalkFrame, node: ast.Attribute) -> AbstractValue:
    return escapes(frame, node, frame.attribute(node, base_value(frame, node.value), node.attr))


def escapes(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> AbstractValue:
    """Note that a function or a class counts as called where it is named, if it is defined inside a function, or handed out."""
    for option in value.options or (value,):
        definition = definition_of(option)
        if definition is not None and (definition.parent is not None or _is_handed_out(frame, node, option)):
            receives(frame, node, [option])
    return value


def _is_handed_out(frame: WalkFrame, node: ast.AST, value: AbstractValue) -> bool:
    """Return whether a value goes to the callers by its name; methods of the own object and classes of tables are followed."""
    owner = node.value if isinstance(node, ast.Attribute) else None
    is_own = isinstance(owner, ast.Name) and owner.id == own_name(frame.function)
    if isinstance(value.payload, BoundMethod) and is_own:
        return False
    return bool(frame.hands_out) and not (value.kind is Kind.CLASS and isinstance(node, ast.Subscript))


@handles(EXPRESSIONS, "Call")
def _call(frame: WalkFrame, node: ast.Call) -> AbstractValue:
    return call(frame, node)


@handles(EXPRESSIONS, "Lambda")
def _lambda(frame: WalkFrame, node: ast.Lambda) -> AbstractValue:
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if default is not None:
            frame.evaluate(default)
    function = frame.source.scopes.function_of(node, frame.function, frame.statement)
    frame.calls(node, function)
    return AbstractValue(Kind.FUNCTION, payload=function)


@handles(EXPRESSIONS, "BoolOp")
def _bool_op(frame: WalkFrame, node: ast.BoolOp) -> AbstractValue:
    ends, found = isinstance(node.op, ast.Or), list[AbstractValue]()
    with narrowing() as narrowed:
        for part in node.values[:-1]:
            if found and not frame.prover.ran.may_evaluate(frame.module, part):
                return join_all(found)
            value = frame.evaluate(part)
            known = asks_truth(frame, part, value)
            if known is UNREACHED:
                return join_all(found)
            if known is not (not ends):
                found.append(value)
            if known is ends:
                return join_all(found)
            narrowed(frame, part, holds=not ends)
        if not found or frame.prover.ran.may_evaluate(frame.module, node.values[-1]):
            found.append(frame.evaluate(node.values[-1]))
    return join_all(found)


@handles(EXPRESSIONS, "UnaryOp")
def _unary_op(frame: WalkFrame, node: ast.UnaryOp) -> AbstractValue:
    if isinstance(node.op, ast.Not):
        known = truth_of(frame, node.operand)
        if known is UNREACHED:
            return BOTTOM
        return BOOL if known is None else refine(BOOL, payload=not known)
    return unary(frame, node, frame.evaluate(node.operand))


@handles(EXPRESSIONS, "BinOp")
def _bin_op(frame: WalkFrame, node: ast.BinOp) -> AbstractValue:
    left = frame.evaluate(node.left)
    return binary(frame, node, type(node.op).__name__, left, frame.evaluate(node.right))


@handles(EXPRESSIONS, "Compare")
def _compare(frame: WalkFrame, node: ast.Compare) -> AbstractValue:
    return compare(frame, node)


@handles(EXPRESSIONS, "IfExp")
def _if_exp(frame: WalkFrame, node: ast.IfExp) -> AbstractValue:
    known, found = truth_of(frame, node.test), []
    start = dict(frame.env)
    ways = {holds: way for holds, way in ((True, node.body), (False, node.orelse)) if known in (None, holds)}
    evaluated = [holds for holds, way in ways.items() if frame.prover.ran.may_evaluate(frame.module, way)]
    for holds in evaluated or ways:
        frame.env = dict(start)
        narrow(frame, node.test, holds=holds)
        found.append(frame.evaluate(ways[holds]))
    frame.env = start
    return join_all(found)


@handles(EXPRESSIONS, "NamedExpr")
def _named(frame: WalkFrame, node: ast.NamedExpr) -> AbstractValue:
    value = frame.evaluate(node.value)
    assign(frame, node.target, value)
    return frame.env.get(node.target.id, value)


@handles(EXPRESSIONS, "Subscript")
def _subscript(frame: WalkFrame, node: ast.Subscript) -> AbstractValue:
    base = base_value(frame, node.value)
    function = base.payload
    if isinstance(function, Function) and function.is_kernel:  # kernel[grid]
        frame.evaluate(node.slice)
        return base
    if base.kind is Kind.CLASS or (base.kind is Kind.MODULE and isinstance(base.payload, str)):
        if isinstance(base.payload, Class):
            frame.evaluate(node.slice)
            for method in frame.source.overrides(base.payload, "__class_getitem__"):
                runs_method(frame, node, method)
            runs(frame, node, base, "__getitem__")
            return base
        if not isinstance(base.payload, str):  # any class
            frame.evaluate(node.slice)
            return TOP
        if gives_values(base.payload):
            frame.evaluate(node.slice)
            return HOST
        return TOP if base.payload.partition(".")[0] not in {"typing", "builtins"} else base
    return escapes(frame, node, subscript(frame, node, base, frame.evaluate(node.slice)))


@handles(EXPRESSIONS, "Slice")
def _slice(frame: WalkFrame, node: ast.Slice) -> AbstractValue:
    bounds = [frame.evaluate(each) for each in (node.lower, node.upper, node.step) if each is not None]
    for each in bounds:
        runs(frame, node, each, "__index__")
    return AbstractValue(
        Kind.SLICE, items=tuple(NUMBER if each.kind is Kind.NUMBER else each for each in bounds)
    )


@handles(EXPRESSIONS, "Tuple")
def _tuple(frame: WalkFrame, node: ast.Tuple) -> AbstractValue:
    return _sequence(frame, node.elts, Kind.TUPLE)


@handles(EXPRESSIONS, "List")
def _list(frame: WalkFrame, node: ast.List) -> AbstractValue:
    return _sequence(frame, node.elts, Kind.LIST)


def _sequence(frame: WalkFrame, items: list[ast.expr], kind: Kind) -> AbstractValue:
    values, spreads = [], False
    for item in items:
        if isinstance(item, ast.Starred):
            spreads = True
            values.append(iterates(frame, item, frame.evaluate(item.value)))
        else:
            values.append(frame.evaluate(item))
    if spreads or len(values) > _MOST_ITEMS:
        return list_of(join_all(values), kind)
    return sequence(values, kind)


@handles(EXPRESSIONS, "Set")
def _set(frame: WalkFrame, node: ast.Set) -> AbstractValue:
    item = join_all([frame.evaluate(each) for each in node.elts])
    hashes(frame, node, item)
    return list_of(item, Kind.SET)


@handles(EXPRESSIONS, "Dict")
def _dict(frame: WalkFrame, node: ast.Dict) -> AbstractValue:
    values = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            spreads_mapping(frame, value, frame.evaluate(value))
            values.append(TOP)
        else:
            hashes(frame, key, frame.evaluate(key))
            values.append(frame.evaluate(value))
    return AbstractValue(Kind.DICT, element=list_of(join_all(values)).element if values else TOP)


@handles(EXPRESSIONS, "Starred")
def _starred(frame: WalkFrame, node: ast.Starred) -> AbstractValue:
    return iterates(frame, node, frame.evaluate(node.value))


@handles(EXPRESSIONS, "JoinedStr", "TemplateStr")
def _text(frame: WalkFrame, node: ast.JoinedStr) -> AbstractValue:
    for part in node.values:
        frame.evaluate(part)
    return STRING


@handles(EXPRESSIONS, "FormattedValue", "Interpolation")
def _formatted(frame: WalkFrame, node: ast.FormattedValue) -> AbstractValue:
    formats(frame, node.value, frame.evaluate(node.value))
    if node.format_spec is not None:
        frame.evaluate(node.format_spec)
    return STRING


@handles(EXPRESSIONS, "ListComp", "SetComp", "GeneratorExp", "DictComp")
def _comprehension(
    frame: WalkFrame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
) -> AbstractValue:
    start, bound = dict(frame.env), dict(frame.walk.bound)
    for part in node.generators:
        assign(frame, part.target, iterates(frame, part.iter, frame.evaluate(part.iter)))
        for test in part.ifs:
            truth_of(frame, test)
            narrow(frame, test, holds=True)
    if isinstance(node, ast.DictComp):
        hashes(frame, node.key, frame.evaluate(node.key))
        item = frame.evaluate(node.value)
        kind = Kind.DICT
    else:
        item = frame.evaluate(node.elt)
        kind = Kind.SET if isinstance(node, ast.SetComp) else Kind.LIST
        if kind is Kind.SET:
            hashes(frame, node, item)
    _leave_scope(frame, node, start, bound)
    made = list_of(item, kind)
    return lazily(made) if isinstance(node, ast.GeneratorExp) else made


def _leave_scope(
    frame: WalkFrame, node: ast.AST, start: dict[str, AbstractValue], bound: dict[str, AbstractValue]
) -> None:
    """Forget the names of a comprehension, but for those that a walrus binds outside."""
    walrus = {
        each.target.id
        for each in walk(node)
        if isinstance(each, ast.NamedExpr) and isinstance(each.target, ast.Name)
    }
    kept = {name: frame.env[name] for name in walrus if name in frame.env}
    frame.env = {
        **start,
        **{name: join(start[name], value) if name in start else value for name, value in kept.items()},
    }
    frame.walk.bound = {
        **bound,
        **{name: frame.walk.bound[name] for name in kept if name in frame.walk.bound},
    }


@handles(EXPRESSIONS, "Await")
def _await(frame: WalkFrame, node: ast.Await) -> AbstractValue:
    value = frame.evaluate(node.value)
    runs(frame, node, value, "__await__")
    if not isinstance(node.value, ast.Call) and value is TOP:
        frame.unknown(node, "awaits what is not known, which may run any coroutine")
    return value


@handles(EXPRESSIONS, "Yield")
def _yield(frame: WalkFrame, node: ast.Yield) -> AbstractValue:
    if node.value is not None:
        frame.evaluate(node.value)
    frame.yields()
    return TOP


@handles(EXPRESSIONS, "YieldFrom")
def _yield_from(frame: WalkFrame, node: ast.YieldFrom) -> AbstractValue:
    iterates(frame, node, frame.evaluate(node.value))
    with frame.catching(swallows=True):  # the generator there gets the exception first
        frame.yields()
    return TOP
