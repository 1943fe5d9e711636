"""Loops, each run until what it finds at its start stops changing."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.check.infer.evaluate.environment import Changes, Loop
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.narrow import narrow
from syncscan.check.infer.evaluate.registry import STATEMENTS, register
from syncscan.check.infer.values.basic import iterated


@register(STATEMENTS, ast.For, ast.AsyncFor)
def _for(frame: Frame, node: ast.For | ast.AsyncFor) -> bool:
    element = iterated(frame.evaluate(node.iter))
    start, broken = _loop(frame, lambda: frame.assign(node.target, element), node.body)
    return _leave_loop(frame, start, broken, ended=frame.run(node.orelse))


@register(STATEMENTS, ast.While)
def _while(frame: Frame, node: ast.While) -> bool:
    def test() -> None:
        frame.note_truth(frame.evaluate(node.test))
        narrow(frame, node.test, holds=True)

    start, broken = _loop(frame, test, node.body)
    if isinstance(node.test, ast.Constant) and node.test.value:
        return _leave_loop(frame, start, broken, ended=False)
    narrow(frame, node.test, holds=False)
    return _leave_loop(frame, start, broken, ended=frame.run(node.orelse))


_ROUNDS = 3
_DEEPEST = 3  # loops in one another that each have their own rounds


def _loop(frame: Frame, start: Callable[[], None], body: list[ast.stmt]) -> tuple[int, list[Changes]]:
    """Run a loop body until what it finds at its start stops changing; twice is nearly always enough.

    What is known then is what is known where the loop ends of itself. Returned is a mark at the start of the
    last round, and what has changed since that at each ``break``.
    A loop deep in others is run once in each of their rounds, or the rounds would multiply.
    """
    env = frame.env
    rounds = _ROUNDS if len(frame.loops) < _DEEPEST else 1
    while True:
        rounds -= 1
        loop = Loop(env.begin())
        frame.loops.append(loop)
        start()
        reached = frame.run(body)
        frame.loops.pop()
        after = env.rewind(loop.start)
        joined = env.meet({}, *loop.continued, *([after] if reached else []))
        stable = all(path not in env or env[path] == value for path, value in joined.items())
        if stable or not rounds:
            mark = env.begin()
            env.apply(joined)
            return mark, loop.broken
        env.apply(joined)


def _leave_loop(frame: Frame, start: int, broken: list[Changes], *, ended: bool) -> bool:
    """Go on behind a loop that ended of itself, if it could, or by a ``break``."""
    after = frame.env.rewind(start)
    ends = [after, *broken] if ended else broken
    frame.env.apply(frame.env.meet(*ends) if ends else after)
    return bool(ends)


@register(STATEMENTS, ast.Break)
def _break(frame: Frame, node: ast.Break) -> bool:
    if frame.loops:
        frame.loops[-1].broken.append(frame.env.changes(frame.loops[-1].start))
    return False


@register(STATEMENTS, ast.Continue)
def _continue(frame: Frame, node: ast.Continue) -> bool:
    if frame.loops:
        frame.loops[-1].continued.append(frame.env.changes(frame.loops[-1].start))
    return False
