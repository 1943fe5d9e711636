"""Lowering of branches: tests, cases, exceptions, and the joins of their paths."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.lower.environment import Changes
from syncscan.check.infer.lower.lowering import STATEMENTS, Lowering, lowers
from syncscan.check.infer.lower.narrowing import narrow
from syncscan.check.infer.source.syntax import path_of, walk
from syncscan.model import Kind


@lowers(STATEMENTS, ast.If)
def _if(to: Lowering, node: ast.If) -> bool:
    """Lower an ``if`` with its chain of ``elif`` branches, iteratively."""
    start, ends, opened, switch = to.env.begin(), list[Changes](), 0, to.switch
    while True:
        to.truth(to.evaluate(node.test))
        arm = to.env.begin()
        goes_on = _runs_side(to, node.test, node.body, holds=True)
        if goes_on:
            ends.append(to.env.changes(start))
        to.env.undo(arm)
        inner = node.orelse[0] if len(node.orelse) == 1 else None
        if not isinstance(inner, ast.If) or to.runs_elsewhere(node.test, holds=False):
            break
        narrow(to, node.test, holds=False)
        to.switch = to.switch or _switched_off(to, node.test, (), holds=False)
        node = to.statement = inner
        opened += 1
        if to.listener is not None:
            to.listener.begin(node, to.switch)
    if _runs_side(to, node.test, node.orelse, holds=False):
        ends.append(to.env.changes(start))
    # Behind `if switch: return` runs what runs where the test fails.
    to.switch = switch or ("" if goes_on or opened else _switched_off(to, node.test, (), holds=False))
    for _ in range(opened):
        if to.listener is not None:
            to.listener.end()
    last = to.env.rewind(start)
    to.env.apply(to.meet(*ends) if ends else last)
    return bool(ends)


def _runs_side(to: Lowering, test: ast.expr, body: list[ast.stmt], *, holds: bool) -> bool:
    """Lower one side of a test; return whether control flow reaches its end on a GPU."""
    if to.runs_elsewhere(test, holds=holds):
        _leave_out(to, body)
        return False
    listener = to.listener
    silent = listener is not None and listener.contradiction(test, holds=holds, lowering=to)
    outer = to.switch
    to.switch = outer or _switched_off(to, test, body, holds=holds)
    with to.silent(silent=silent):
        narrow(to, test, holds=holds)
        reached = to.run(body)
    to.switch = outer
    return reached


def _switched_off(to: Lowering, test: ast.expr, body: Sequence[ast.stmt], *, holds: bool) -> str:
    """Return the switch that keeps statements from running, or ""; see `Listener`. Others set one that the statements set back."""
    switch = to.listener.switched_off(test, holds=holds) if to.listener is not None else ""
    inside = (node for statement in body for node in walk(statement)) if switch else ()
    is_set = any(
        path_of(node) == switch and isinstance(node.ctx, ast.Store)
        for node in inside
        if isinstance(node, (ast.Name, ast.Attribute))
    )
    return "" if is_set else switch


def _leave_out(to: Lowering, body: list[ast.stmt]) -> None:
    """Record the callees in statements that only other hardware runs; the analysis skips these statements."""
    listener, to.listener = to.listener, None
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Call) and path_of(node.func):
                to.emit(Op.LEFT_OUT, (to.evaluate(node.func),))
    to.listener = listener


@lowers(STATEMENTS, ast.Try)
def _try(to: Lowering, node: ast.Try) -> bool:
    env = to.env
    start = env.begin()
    reached = to.run(node.body)
    raised = env.changes(start)
    if reached:
        reached = to.run(node.orelse)
    after = env.rewind(start)
    middle = to.meet({}, raised)
    ends = [after] if reached else []
    for handler in node.handlers:
        start = env.begin()
        env.apply(middle)
        if handler.name:
            env[handler.name] = to.nothing()
        reached = to.run(handler.body)
        after = env.rewind(start)
        if reached:
            ends.append(after)
    env.apply(to.meet(*ends) if ends else middle)
    return to.run(node.finalbody) and bool(ends)


if hasattr(ast, "TryStar"):
    lowers(STATEMENTS, ast.TryStar)(_try)


@lowers(STATEMENTS, ast.Match)
def _match(to: Lowering, node: ast.Match) -> bool:
    subject = to.evaluate(node.subject)
    ends: list[Changes] = [{}]
    for case in node.cases:
        start = to.env.begin()
        _capture(to, case.pattern, subject)
        if case.guard is not None:
            _guard(to, case, case.guard)
        reached = to.run(case.body)
        after = to.env.rewind(start)
        if reached:
            ends.append(after)
    to.env.apply(to.meet(*ends))
    return True


def _guard(to: Lowering, case: ast.match_case, test: ast.expr) -> None:
    """Lower the guard of a case; it is reported under a synthetic ``if`` statement."""
    if to.listener is not None:
        to.listener.begin(_as_if(case, test, to.module.lines), to.switch)
    to.truth(to.evaluate(test))
    if to.listener is not None:
        to.listener.end()
    narrow(to, test, holds=True)


def _as_if(case: ast.match_case, test: ast.expr, lines: Sequence[str]) -> ast.If:
    line, before = test.lineno, lines[test.lineno - 1].encode()[: test.col_offset]
    while b"if" not in before:
        line, before = line - 1, lines[line - 2].encode()
    return ast.If(test, case.body, [], lineno=line, col_offset=before.rindex(b"if"))


def _capture(to: Lowering, pattern: ast.pattern, slot: Slot) -> None:
    """Bind the names in the pattern of a case; attributes and values inside mappings and classes are unknown."""
    name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
    if name is not None:
        to.bind(
            name,
            to.once(Op.LIST_OF, (slot,), Kind.LIST) if isinstance(pattern, ast.MatchStar) else slot,
            pattern,
        )
    inner = [child for child in ast.iter_child_nodes(pattern) if isinstance(child, ast.pattern)]
    for position, child in enumerate(inner):
        part = slot
        if isinstance(pattern, ast.MatchSequence):
            part = to.once(Op.CAPTURED_PATTERN, (slot,), (position, len(inner)))
        elif isinstance(pattern, (ast.MatchMapping, ast.MatchClass)):
            part = to.nothing()
        _capture(to, child, part)


@lowers(STATEMENTS, ast.Raise)
def _raise(to: Lowering, node: ast.Raise) -> bool:
    if node.exc is not None:
        with to.silent():  # a program that fails may wait
            to.evaluate(node.exc)
    return False


@lowers(STATEMENTS, ast.Assert)
def _assert(to: Lowering, node: ast.Assert) -> bool:
    to.truth(to.evaluate(node.test))
    if node.msg is not None:
        start = to.env.begin()
        with to.silent():
            to.evaluate(node.msg)
        to.env.undo(start)
    narrow(to, node.test, holds=True)
    is_false = isinstance(node.test, ast.Constant) and node.test.value is False
    return not (is_false or to.runs_elsewhere(node.test, holds=True))
