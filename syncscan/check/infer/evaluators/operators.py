"""Operators, comparisons, conditions within an expression, and text."""

from __future__ import annotations

import ast

from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.narrow import narrow, never
from syncscan.check.infer.evaluate.registry import EXPRESSIONS, register
from syncscan.check.infer.table.results import arithmetic
from syncscan.check.infer.table.subscripts import elements_of_index
from syncscan.check.infer.values.basic import BOOL, INT, NUMBER, STRING, constant, element_of, list_of, refine
from syncscan.check.infer.values.lattice import as_tensor, join, join_all, join_paths
from syncscan.model import ARRAYS, UNKNOWN, Kind, Value


@register(EXPRESSIONS, ast.BinOp)
def _bin_op(frame: Frame, node: ast.BinOp) -> Value:
    left, right = frame.evaluate(node.left), frame.evaluate(node.right)
    if isinstance(node.op, (ast.Mod, ast.Mult)) and {left.kind, right.kind} & {
        Kind.STRING,
        Kind.LIST,
        Kind.TUPLE,
    }:
        for value in (left, *elements_of_index(right)):  # "%s" % t, [0] * t
            frame.note_truth(value)
    return binary(left, right, node.op)


def binary(left: Value, right: Value, operator: ast.operator) -> Value:
    """The value of ``left <operator> right``."""
    if not isinstance(operator, ast.BitOr):
        left, right = _both_numeric(left, right)
    kinds = {left.kind, right.kind}
    if Kind.UNION in kinds:
        return join_all(binary(a, b, operator) for a in left.options[:4] for b in right.options[:4])
    if kinds & ARRAYS:
        return arithmetic([left, right], operator)
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
    kinds = {left.kind, right.kind}
    if Kind.MOVED in kinds and kinds <= _NUMERIC:
        return as_tensor(left), as_tensor(right)
    return left, right


_NUMERIC = frozenset({Kind.MOVED, Kind.TENSOR, Kind.NUMBER})


@register(EXPRESSIONS, ast.UnaryOp)
def _unary_op(frame: Frame, node: ast.UnaryOp) -> Value:
    operand = frame.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        frame.note_truth(operand)
        return BOOL
    if isinstance(node.op, ast.USub) and isinstance(operand.payload, int):
        return constant(-operand.payload)
    if isinstance(node.op, ast.Invert) and operand.kind in ARRAYS and operand.dtype is None:
        return refine(operand, dtype="bool")  # what is inverted selects, unless it is known to be integers
    return operand if operand.kind in {*ARRAYS, Kind.NUMBER, Kind.UNION} else UNKNOWN


@register(EXPRESSIONS, ast.Compare)
def _compare(frame: Frame, node: ast.Compare) -> Value:
    operands = [frame.evaluate(node.left), *map(frame.evaluate, node.comparators)]
    if not _BY_IDENTITY.isdisjoint(map(type, node.ops)):
        return BOOL
    is_search = isinstance(node.ops[0], (ast.In, ast.NotIn))
    if len(operands) > 2 or is_search:
        for operand in operands:
            frame.note_truth(operand)
    if is_search:
        return BOOL
    if len(operands) == 2:
        operands = list(_both_numeric(*operands))
        if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and any(
            each.kind is Kind.STRING for each in operands
        ):
            return BOOL  # a tensor equals no text, and torch does not look at it to say so
    return _answer(operands, node.ops[0])


def _answer(operands: list[Value], operator: ast.cmpop) -> Value:
    """What a comparison of operands gives."""
    kinds = {operand.kind for operand in operands}
    if not kinds.isdisjoint(ARRAYS):
        return arithmetic(operands, operator)
    if Kind.UNION in kinds:
        return join_all(
            arithmetic([option], operator) if option.kind in ARRAYS else BOOL
            for operand in operands
            if operand.kind is Kind.UNION
            for option in operand.options
        )
    return UNKNOWN if Kind.UNKNOWN in kinds else BOOL


_BY_IDENTITY = frozenset({ast.Is, ast.IsNot})


@register(EXPRESSIONS, ast.BoolOp)
def _bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    result = UNKNOWN
    start, bound = frame.env.begin(), len(frame.named_in_expressions)
    last = len(node.values) - 1
    for position, part in enumerate(node.values):
        value = frame.evaluate(part)
        frame.note_truth(value)
        if position < last:
            narrow(frame, part, holds=isinstance(node.op, ast.And))
        result = join(result, value)
        if never(frame, part, holds=isinstance(node.op, ast.And)):
            break
    changes = frame.env.rewind(start)
    frame.env.apply({n: changes[n] for n in frame.named_in_expressions[bound:] if changes.get(n) is not None})
    return result


@register(EXPRESSIONS, ast.IfExp)
def _if_exp(frame: Frame, node: ast.IfExp) -> Value:
    test = frame.evaluate(node.test)
    frame.note_truth(test)
    return join_paths(
        [
            _side(frame, node.test, side, holds=holds)
            for side, holds in ((node.body, True), (node.orelse, False))
            if not never(frame, node.test, holds=holds)
        ]
    )


def _side(frame: Frame, test: ast.expr, node: ast.expr, *, holds: bool) -> Value:
    start = frame.env.begin()
    narrow(frame, test, holds=holds)
    value = frame.evaluate(node)
    frame.env.undo(start)
    return value


@register(EXPRESSIONS, ast.JoinedStr)
def _joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = frame.evaluate(part.value)
            frame.note_truth(value)
            if part.format_spec is not None:
                frame.evaluate(part.format_spec)
    first = node.values[0] if node.values else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.startswith("cuda"):
        return Value(Kind.STRING, payload="cuda")
    return STRING
