"""Branches: tests, cases, exceptions, and where their paths meet."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from syncscan.check.infer.evaluate.environment import Changes
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.narrow import contradicts, narrow
from syncscan.check.infer.evaluate.registry import STATEMENTS, register
from syncscan.check.infer.evaluate.storing import bind
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import path_of, walk
from syncscan.check.infer.values.basic import element_of, list_of
from syncscan.model import UNKNOWN, Kind, Value


@register(STATEMENTS, ast.If)
def _if(frame: Frame, node: ast.If) -> bool:
    """Run every branch of a test, and of those that stand in its ``else`` alone, one after the other."""
    start, ends, opened = frame.env.begin(), list[Changes](), 0
    while True:
        frame.note_truth(frame.evaluate(node.test))
        arm = frame.env.begin()
        if _runs_side(frame, node.test, node.body, holds=True):
            ends.append(frame.env.changes(start))
        frame.env.undo(arm)
        inner = node.orelse[0] if len(node.orelse) == 1 else None
        if not isinstance(inner, ast.If) or frame.context.runs_elsewhere(node.test, holds=False):
            break
        narrow(frame, node.test, holds=False)
        node = frame.statement = inner
        opened += 1
        if frame.recorder is not None:
            frame.recorder.begin(node)
    if _runs_side(frame, node.test, node.orelse, holds=False):
        ends.append(frame.env.changes(start))
    for _ in range(opened):
        if frame.recorder is not None:
            frame.recorder.end()
    last = frame.env.rewind(start)
    frame.env.apply(frame.env.meet(*ends) if ends else last)
    return bool(ends)


def _runs_side(frame: Frame, test: ast.expr, body: list[ast.stmt], *, holds: bool) -> bool:
    """Run one side of a test; whether its end is reached on a GPU."""
    if frame.context.runs_elsewhere(test, holds=holds):
        _leave_out(frame, body)
        return False
    with frame.unsure(unsure=contradicts(frame, test, holds=holds)):
        narrow(frame, test, holds=holds)
        return frame.run(body)


def _leave_out(frame: Frame, body: list[ast.stmt]) -> None:
    """Note what is called in statements that are not followed, since only other hardware runs them."""
    with frame.unsure():
        for statement in body:
            for node in walk(statement):
                if isinstance(node, ast.Call) and path_of(node.func):
                    callee = frame.evaluate(node.func).payload
                    if isinstance(callee, Function):
                        frame.outcome.elsewhere[callee] = None


@register(STATEMENTS, ast.Try)
def _try(frame: Frame, node: ast.Try) -> bool:
    env = frame.env
    start = env.begin()
    reached = frame.run(node.body)
    raised = env.changes(start)
    if reached:
        reached = frame.run(node.orelse)
    after = env.rewind(start)
    middle = env.meet({}, raised)
    ends = [after] if reached else []
    for handler in node.handlers:
        start = env.begin()
        env.apply(middle)
        if handler.name:
            env[handler.name] = UNKNOWN
        reached = frame.run(handler.body)
        after = env.rewind(start)
        if reached:
            ends.append(after)
    env.apply(env.meet(*ends) if ends else middle)
    return frame.run(node.finalbody) and bool(ends)


if hasattr(ast, "TryStar"):
    register(STATEMENTS, ast.TryStar)(_try)


@register(STATEMENTS, ast.Match)
def _match(frame: Frame, node: ast.Match) -> bool:
    subject = frame.evaluate(node.subject)
    ends: list[Changes] = [{}]
    for case in node.cases:
        start = frame.env.begin()
        _capture(frame, case.pattern, subject)
        if case.guard is not None:
            _guard(frame, case, case.guard)
        reached = frame.run(case.body)
        after = frame.env.rewind(start)
        if reached:
            ends.append(after)
    frame.env.apply(frame.env.meet(*ends))
    return True


def _guard(frame: Frame, case: ast.match_case, test: ast.expr) -> None:
    """Record the guard of a case under the statement that it reads like."""
    if frame.recorder is not None:
        guards = frame.context.guards
        if case not in guards:
            guards[case] = _as_if(case, test, frame.module.lines)
        frame.recorder.begin(guards[case])
    frame.note_truth(frame.evaluate(test))
    if frame.recorder is not None:
        frame.recorder.end()
    narrow(frame, test, holds=True)


def _as_if(case: ast.match_case, test: ast.expr, lines: Sequence[str]) -> ast.If:
    line, before = test.lineno, lines[test.lineno - 1].encode()[: test.col_offset]
    while b"if" not in before:
        line, before = line - 1, lines[line - 2].encode()
    return ast.If(test, case.body, [], lineno=line, col_offset=before.rindex(b"if"))


def _capture(frame: Frame, pattern: ast.pattern, value: Value) -> None:
    """Bind the names in the pattern of a case; what is inside an object is not followed."""
    name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
    if name is not None:
        bind(frame, name, list_of(value) if isinstance(pattern, ast.MatchStar) else value, pattern)
    inner = [child for child in ast.iter_child_nodes(pattern) if isinstance(child, ast.pattern)]
    parts = [value] * len(inner)
    if isinstance(pattern, ast.MatchSequence):
        items = value.items if value.kind is not Kind.UNION else None
        parts = (
            [*items] if items is not None and len(items) == len(inner) else [element_of(value)] * len(inner)
        )
    elif isinstance(pattern, (ast.MatchMapping, ast.MatchClass)):
        parts = [UNKNOWN] * len(inner)
    for child, part in zip(inner, parts, strict=True):
        _capture(frame, child, part)


@register(STATEMENTS, ast.Raise)
def _raise(frame: Frame, node: ast.Raise) -> bool:
    if node.exc is not None:
        with frame.unsure():  # a program that fails may wait
            frame.evaluate(node.exc)
    return False


@register(STATEMENTS, ast.Assert)
def _assert(frame: Frame, node: ast.Assert) -> bool:
    frame.note_truth(frame.evaluate(node.test))
    if node.msg is not None:
        start = frame.env.begin()
        with frame.unsure():
            frame.evaluate(node.msg)
        frame.env.undo(start)
    narrow(frame, node.test, holds=True)
    is_false = isinstance(node.test, ast.Constant) and node.test.value is False
    return not (is_false or frame.context.runs_elsewhere(node.test, holds=True))
