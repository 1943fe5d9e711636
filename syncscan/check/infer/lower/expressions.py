"""Lowering of expressions: names, constants, attributes, subscripts, operators, container literals, comprehensions."""

from __future__ import annotations

import ast

from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.lower.lowering import EXPRESSIONS, Lowering, lowers
from syncscan.check.infer.lower.narrowing import gated, narrow, never
from syncscan.model import Kind


@lowers(EXPRESSIONS, ast.Name)
def _name(to: Lowering, node: ast.Name) -> Slot:
    slot = to.env.get(node.id)
    return slot if slot is not None else to.once(Op.READ_NAME, (), node.id)


@lowers(EXPRESSIONS, ast.Constant)
def _constant(to: Lowering, node: ast.Constant) -> Slot:
    return to.constant(node.value)


@lowers(EXPRESSIONS, ast.Attribute)
def _attribute(to: Lowering, node: ast.Attribute) -> Slot:
    key = to.path(node)
    if key and (known := to.env.get(key)) is not None:
        return known
    base = to.evaluate(node.value)
    to.note_read(base)
    slot = to.once(Op.ATTRIBUTE, (base,), (node.attr, to.is_allowed))
    if to.listener is not None:
        to.listener.runs(node, slot)
    return slot


@lowers(EXPRESSIONS, ast.Subscript)
def _subscript(to: Lowering, node: ast.Subscript) -> Slot:
    key = to.path(node)
    if key and (known := to.env.get(key)) is not None:
        to.evaluate(node.value)
        return known
    base = to.evaluate(node.value)
    index = to.evaluate(node.slice)
    to.note_read(base)
    slot = to.once(Op.SUBSCRIPT, (base, index))
    if to.listener is not None:
        to.listener.runs(node, slot)
    return slot


@lowers(EXPRESSIONS, ast.Slice)
def _slice(to: Lowering, node: ast.Slice) -> Slot:
    parts = (node.lower, node.upper, node.step)
    return to.once(Op.SLICE, tuple([to.evaluate(part) for part in parts if part is not None]))


@lowers(EXPRESSIONS, ast.Starred)
def _inner(to: Lowering, node: ast.Starred) -> Slot:
    return to.evaluate(node.value)


@lowers(EXPRESSIONS, ast.Await)
def _await(to: Lowering, node: ast.Await) -> Slot:
    to.unread.clear()
    return to.evaluate(node.value)


@lowers(EXPRESSIONS, ast.NamedExpr)
def _named_expr(to: Lowering, node: ast.NamedExpr) -> Slot:
    slot = to.evaluate(node.value)
    to.assign(node.target, slot)
    to.named_in_expressions.append(node.target.id)
    return slot


@lowers(EXPRESSIONS, ast.Lambda)
def _lambda(to: Lowering, node: ast.Lambda) -> Slot:
    function = to.scopes.function_of(node, to.function, to.statement)
    if function not in to.ir.lambdas:
        to.ir.lambdas.append(function)
    return to.once(Op.LAMBDA, (), to.ir.lambdas.index(function))


# Operators


@lowers(EXPRESSIONS, ast.BinOp)
def _bin_op(to: Lowering, node: ast.BinOp) -> Slot:
    left, right = to.evaluate(node.left), to.evaluate(node.right)
    if isinstance(node.op, (ast.Mod, ast.Mult)):
        to.ir.formats.append((left, right))  # "%s" % t, [0] * t
    slot = to.once(Op.BINARY, (left, right), operator_name(node.op))
    if to.listener is not None and isinstance(node.op, (ast.Mod, ast.Mult)):
        to.listener.runs(node, slot)
    return slot


def operator_name(node: ast.AST) -> str:
    """Return the name of an operator, as `ast` has it."""
    return type(node).__name__


@lowers(EXPRESSIONS, ast.UnaryOp)
def _unary_op(to: Lowering, node: ast.UnaryOp) -> Slot:
    operand = to.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        to.truth(operand)
    return to.once(Op.UNARY, (operand,), operator_name(node.op))


@lowers(EXPRESSIONS, ast.Compare)
def _compare(to: Lowering, node: ast.Compare) -> Slot:
    operands = (to.evaluate(node.left), *[to.evaluate(each) for each in node.comparators])
    operators = tuple([operator_name(each) for each in node.ops])
    if not {"Is", "IsNot"} & {*operators} and (len(operands) > 2 or operators[0] in {"In", "NotIn"}):
        for operand in operands:
            to.truth(operand)
    return to.once(Op.COMPARE, operands, operators)


@lowers(EXPRESSIONS, ast.BoolOp)
def _bool_op(to: Lowering, node: ast.BoolOp) -> Slot:
    is_and = isinstance(node.op, ast.And)
    slots: list[Slot] = []
    start, bound = to.env.begin(), len(to.named_in_expressions)
    gates: list[Slot] = []
    for part in node.values:
        with to.silent(silent=any(map(to.is_closed, gates))):
            slot = to.evaluate(part)
            to.truth(slot)
        for gate in gates:
            slot = to.once(Op.GATE, (slot, gate))
        slots.append(slot)
        if part is node.values[-1]:
            break
        if to.runs_elsewhere(part, holds=is_and):
            break
        gate_here = gated(to, part, holds=is_and)
        if gate_here is not None:
            gates.append(gate_here)
        narrow(to, part, holds=is_and)
    changes = to.env.rewind(start)
    to.env.apply({n: changes[n] for n in to.named_in_expressions[bound:] if changes.get(n) is not None})
    return to.joined(slots)


@lowers(EXPRESSIONS, ast.IfExp)
def _if_exp(to: Lowering, node: ast.IfExp) -> Slot:
    to.truth(to.evaluate(node.test))
    slots = [
        _side(to, node.test, side, holds=holds)
        for side, holds in ((node.body, True), (node.orelse, False))
        if not never(to, node.test, holds=holds)
    ]
    unique = tuple(dict.fromkeys(slots))
    return to.phi(unique) if len(unique) > 1 else unique[0] if unique else to.nothing()


def _side(to: Lowering, test: ast.expr, node: ast.expr, *, holds: bool) -> Slot:
    gate = gated(to, test, holds=holds)
    silent = gate is not None and to.is_closed(gate)
    if to.listener is not None and not silent:
        silent = to.listener.contradiction(test, holds=holds, lowering=to)
    start = to.env.begin()
    narrow(to, test, holds=holds)
    with to.silent(silent=silent):
        slot = to.evaluate(node)
    to.env.undo(start)
    return slot if gate is None else to.once(Op.GATE, (slot, gate))


@lowers(EXPRESSIONS, ast.JoinedStr)
def _joined_str(to: Lowering, node: ast.JoinedStr) -> Slot:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            to.truth(to.evaluate(part.value))
            if part.format_spec is not None:
                to.evaluate(part.format_spec)
    first = node.values[0] if node.values else None
    is_device = (
        isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.startswith("cuda")
    )
    return to.once(Op.TEXT, (), is_device)


# Literals of containers, and comprehensions


@lowers(EXPRESSIONS, ast.Tuple, ast.List)
def _sequence(to: Lowering, node: ast.Tuple | ast.List) -> Slot:
    kind = Kind.TUPLE if isinstance(node, ast.Tuple) else Kind.LIST
    starred = tuple([place for place, item in enumerate(node.elts) if isinstance(item, ast.Starred)])
    items = [to.evaluate(item.value if isinstance(item, ast.Starred) else item) for item in node.elts]
    return to.once(Op.SEQUENCE, tuple(items), (kind, starred))


@lowers(EXPRESSIONS, ast.Set)
def _set(to: Lowering, node: ast.Set) -> Slot:
    return to.once(Op.SET, tuple([to.evaluate(item) for item in node.elts]))


@lowers(EXPRESSIONS, ast.Dict)
def _dict(to: Lowering, node: ast.Dict) -> Slot:
    slots: list[Slot] = []
    for key, item in zip(node.keys, node.values, strict=True):
        value = to.evaluate(item)
        slots += [-1 if key is None else to.evaluate(key), value]
    return to.once(Op.DICT, tuple(slots))


@lowers(EXPRESSIONS, ast.ListComp, ast.SetComp, ast.GeneratorExp)
def _comprehension(to: Lowering, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Slot:
    start = to.env.begin()
    _generators(to, node.generators)
    element = to.evaluate(node.elt)
    to.env.undo(start)
    return to.once(Op.LIST_OF, (element,), Kind.SET if isinstance(node, ast.SetComp) else Kind.LIST)


@lowers(EXPRESSIONS, ast.DictComp)
def _dict_comp(to: Lowering, node: ast.DictComp) -> Slot:
    start = to.env.begin()
    _generators(to, node.generators)
    to.evaluate(node.key)
    element = to.evaluate(node.value)
    to.env.undo(start)
    return to.once(Op.DICT_OF, (element,))


def _generators(to: Lowering, generators: list[ast.comprehension]) -> None:
    for generator in generators:
        to.assign(generator.target, to.once(Op.ITERATED, (to.evaluate(generator.iter),)))
        for test in generator.ifs:
            to.truth(to.evaluate(test))
            narrow(to, test, holds=True)


@lowers(EXPRESSIONS, ast.Yield)
def _yield(to: Lowering, node: ast.Yield) -> Slot:
    to.unread.clear()
    if node.value is not None:
        to.emit(Op.YIELD, (to.evaluate(node.value),), False)
    return to.nothing()


@lowers(EXPRESSIONS, ast.YieldFrom)
def _yield_from(to: Lowering, node: ast.YieldFrom) -> Slot:
    to.unread.clear()
    to.emit(Op.YIELD, (to.evaluate(node.value),), True)
    return to.nothing()
