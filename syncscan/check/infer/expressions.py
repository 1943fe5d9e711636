"""Expressions to values. An expression that is not understood is `UNKNOWN`, never an error."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from syncscan.check.infer.attributes import attribute_of
from syncscan.check.infer.calls import call
from syncscan.check.infer.hardware import runs_elsewhere
from syncscan.check.infer.narrow import Environment, key_of, narrow
from syncscan.check.infer.operations import arithmetic
from syncscan.check.infer.subscripts import elements_of_index, read_item
from syncscan.check.infer.values import (
    BOOL,
    INT,
    NUMBER,
    STRING,
    as_tensor,
    constant,
    element_of,
    join,
    join_all,
    list_of,
    sequence,
    slice_of,
)
from syncscan.model import ARRAYS, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from syncscan.check.infer.frame import Frame


def evaluate_name(frame: Frame, node: ast.Name) -> Value:
    value = frame.env.get(node.id)
    if value is not None:
        return value
    return frame.outer_name(node.id)


def evaluate_constant(frame: Frame, node: ast.Constant) -> Value:
    return constant(node.value)


def evaluate_attribute(frame: Frame, node: ast.Attribute) -> Value:
    key = key_of(node)
    if key and (known := frame.env.get(key)) is not None:
        return known
    base = frame.evaluate(node.value)
    return frame.named(attribute_of(frame, base, node.attr, node), node.attr)


def evaluate_subscript(frame: Frame, node: ast.Subscript) -> Value:
    key = key_of(node)
    if key and (known := frame.env.get(key)) is not None:
        frame.evaluate(node.value)
        return known
    base = frame.evaluate(node.value)
    index = frame.evaluate(node.slice)
    if base.kind in ARRAYS or base.kind is Kind.UNION:
        frame.note_subscript(node, base, index)
    return read_item(base, index)


def evaluate_slice(frame: Frame, node: ast.Slice) -> Value:
    return slice_of(frame.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None)


def evaluate_bin_op(frame: Frame, node: ast.BinOp) -> Value:
    left, right = frame.evaluate(node.left), frame.evaluate(node.right)
    if isinstance(node.op, (ast.Mod, ast.Mult)) and {left.kind, right.kind} & {
        Kind.STRING,
        Kind.LIST,
        Kind.TUPLE,
    }:
        for value in (left, *elements_of_index(right)):  # "%s" % t, [0] * t
            frame.note_truth(node, value)
    return binary(left, right, node.op)


def binary(left: Value, right: Value, operator: ast.operator) -> Value:
    """The value of ``left <operator> right``."""
    if not isinstance(operator, ast.BitOr):
        left, right = _both_numeric(left, right)
    kinds = {left.kind, right.kind}
    if Kind.UNION in kinds:
        return join_all(binary(a, b, operator) for a in left.options[:4] for b in right.options[:4])
    if kinds & ARRAYS:
        return arithmetic([left, right], compares=False)
    if kinds == {Kind.NUMBER}:
        return NUMBER if left.dtype != "int" or right.dtype != "int" else INT
    if Kind.STRING in kinds:
        return STRING
    if kinds & {Kind.LIST, Kind.TUPLE}:
        if isinstance(operator, ast.Mult):
            whole = left if left.kind in {Kind.LIST, Kind.TUPLE} else right
            return list_of(element_of(whole), whole.kind)
        if isinstance(operator, ast.Add) and left.kind is right.kind:
            return list_of(join(element_of(left), element_of(right)), left.kind)
    return UNKNOWN


def _both_numeric(left: Value, right: Value) -> tuple[Value, Value]:
    """Two operands that can only be tensors, if the other is one or a number."""
    if {left.kind, right.kind} <= {Kind.MOVED, Kind.TENSOR, Kind.NUMBER}:
        return as_tensor(left), as_tensor(right)
    return left, right


def evaluate_unary_op(frame: Frame, node: ast.UnaryOp) -> Value:
    operand = frame.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        frame.note_truth(node, operand)
        return BOOL
    if isinstance(node.op, ast.USub) and isinstance(operand.payload, int):
        return constant(-operand.payload)
    return operand if operand.kind in {*ARRAYS, Kind.NUMBER, Kind.UNION} else UNKNOWN


def evaluate_compare(frame: Frame, node: ast.Compare) -> Value:
    operands = [frame.evaluate(node.left), *map(frame.evaluate, node.comparators)]
    if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
        return BOOL
    if len(operands) > 2 or isinstance(node.ops[0], (ast.In, ast.NotIn)):
        for operand in operands:
            frame.note_truth(node, operand)
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return BOOL
    if len(operands) == 2:
        operands = list(_both_numeric(*operands))
    if any(operand.kind in ARRAYS for operand in operands):
        return arithmetic(operands, compares=True)
    if any(operand.kind is Kind.UNION for operand in operands):
        return join_all(
            arithmetic([option], compares=True) if option.kind in ARRAYS else BOOL
            for operand in operands
            if operand.kind is Kind.UNION
            for option in operand.options
        )
    return BOOL if all(operand.kind is not Kind.UNKNOWN for operand in operands) else UNKNOWN


def evaluate_bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    result = UNKNOWN
    saved = dict(frame.env)
    last = len(node.values) - 1
    for position, part in enumerate(node.values):
        value = frame.evaluate(part)
        if position < last:
            frame.note_truth(node, value)
            narrow(part, frame.env, frame.peek, holds=isinstance(node.op, ast.And))
        result = join(result, value)
        if runs_elsewhere(part, holds=isinstance(node.op, ast.And)):
            break
    frame.env = saved | {name: frame.env[name] for name in _walrus_names(node) if name in frame.env}
    return result


def _walrus_names(node: ast.AST) -> list[str]:
    try:
        return node._walrus  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        names = [
            child.target.id
            for child in ast.walk(node)
            if isinstance(child, ast.NamedExpr) and isinstance(child.target, ast.Name)
        ]
        node._walrus = names  # type: ignore[attr-defined]
        return names


def evaluate_if_exp(frame: Frame, node: ast.IfExp) -> Value:
    test = frame.evaluate(node.test)
    frame.note_truth(node, test)
    saved = dict(frame.env)
    sides = [
        _side(frame, node.test, side, saved, holds=holds)
        for side, holds in ((node.body, True), (node.orelse, False))
        if not runs_elsewhere(node.test, holds=holds)
    ]
    frame.env = saved | {name: frame.env[name] for name in _walrus_names(node.test) if name in frame.env}
    return join_all(sides)


def _side(frame: Frame, test: ast.expr, node: ast.expr, env: Environment, *, holds: bool) -> Value:
    frame.env = dict(env)
    narrow(test, frame.env, frame.peek, holds=holds)
    return frame.evaluate(node)


def evaluate_sequence(frame: Frame, node: ast.Tuple | ast.List) -> Value:
    kind = Kind.TUPLE if isinstance(node, ast.Tuple) else Kind.LIST
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return list_of(
            join_all(
                element_of(frame.evaluate(item.value))
                if isinstance(item, ast.Starred)
                else frame.evaluate(item)
                for item in node.elts
            ),
            kind,
        )
    if not node.elts:
        return list_of(UNKNOWN, kind) if kind is Kind.LIST else sequence([], kind)
    return sequence([frame.evaluate(item) for item in node.elts], kind)


def evaluate_set(frame: Frame, node: ast.Set) -> Value:
    return list_of(join_all([frame.evaluate(item) for item in node.elts]), Kind.SET)


def evaluate_dict(frame: Frame, node: ast.Dict) -> Value:
    values = []
    for key, item in zip(node.keys, node.values, strict=True):
        value = frame.evaluate(item)
        if key is None:
            value = element_of(value)
        else:
            frame.evaluate(key)
        values.append(value)
    return list_of(join_all(values), Kind.DICT)


def evaluate_comprehension(frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    saved = dict(frame.env)
    _generators(frame, node.generators)
    element = frame.evaluate(node.elt)
    frame.env = saved
    return list_of(element, Kind.SET if isinstance(node, ast.SetComp) else Kind.LIST)


def evaluate_dict_comp(frame: Frame, node: ast.DictComp) -> Value:
    saved = dict(frame.env)
    _generators(frame, node.generators)
    frame.evaluate(node.key)
    element = frame.evaluate(node.value)
    frame.env = saved
    return list_of(element, Kind.DICT)


def _generators(frame: Frame, generators: list[ast.comprehension]) -> None:
    for generator in generators:
        frame.assign(generator.target, element_of(frame.evaluate(generator.iter)))
        for test in generator.ifs:
            frame.note_truth(test, frame.evaluate(test))
            narrow(test, frame.env, frame.peek, holds=True)


def evaluate_lambda(frame: Frame, node: ast.Lambda) -> Value:
    return Value(Kind.FUNCTION, payload=frame.solver.function_of(node, frame))


def evaluate_joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = frame.evaluate(part.value)
            frame.note_truth(part, value)
            if part.format_spec is not None:
                frame.evaluate(part.format_spec)
    first = node.values[0] if node.values else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.startswith("cuda"):
        return Value(Kind.STRING, payload="cuda")
    return STRING


def evaluate_named_expr(frame: Frame, node: ast.NamedExpr) -> Value:
    value = frame.evaluate(node.value)
    frame.assign(node.target, value)
    return value


def evaluate_starred(frame: Frame, node: ast.Starred) -> Value:
    return frame.evaluate(node.value)


def evaluate_await(frame: Frame, node: ast.Await) -> Value:
    return frame.evaluate(node.value)


def evaluate_yield(frame: Frame, node: ast.Yield) -> Value:
    if node.value is not None:
        frame.yields(frame.evaluate(node.value))
    return UNKNOWN


def evaluate_yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    frame.yields(element_of(frame.evaluate(node.value)))
    return UNKNOWN


def evaluate_call(frame: Frame, node: ast.Call) -> Value:
    value = call(frame, node)
    frame.after_call()
    return value


EVALUATORS: dict[type[ast.expr], Callable[[Frame, Any], Value]] = {
    ast.Name: evaluate_name,
    ast.Constant: evaluate_constant,
    ast.Attribute: evaluate_attribute,
    ast.Subscript: evaluate_subscript,
    ast.Slice: evaluate_slice,
    ast.BinOp: evaluate_bin_op,
    ast.UnaryOp: evaluate_unary_op,
    ast.Compare: evaluate_compare,
    ast.BoolOp: evaluate_bool_op,
    ast.IfExp: evaluate_if_exp,
    ast.Tuple: evaluate_sequence,
    ast.List: evaluate_sequence,
    ast.Set: evaluate_set,
    ast.Dict: evaluate_dict,
    ast.ListComp: evaluate_comprehension,
    ast.SetComp: evaluate_comprehension,
    ast.GeneratorExp: evaluate_comprehension,
    ast.DictComp: evaluate_dict_comp,
    ast.Lambda: evaluate_lambda,
    ast.JoinedStr: evaluate_joined_str,
    ast.NamedExpr: evaluate_named_expr,
    ast.Starred: evaluate_starred,
    ast.Await: evaluate_await,
    ast.Yield: evaluate_yield,
    ast.YieldFrom: evaluate_yield_from,
    ast.Call: evaluate_call,
}
