"""Loops, each run until what it finds at its start stops changing."""

from __future__ import annotations

import ast
from collections.abc import Callable

from syncscan.check.infer.evaluate.environment import Environment, Loop, join_environments
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.narrow import narrow
from syncscan.check.infer.evaluate.registry import STATEMENTS, register
from syncscan.check.infer.values.basic import element_of


@register(STATEMENTS, ast.For, ast.AsyncFor)
def _for(frame: Frame, node: ast.For | ast.AsyncFor) -> bool:
    element = element_of(frame.evaluate(node.iter))
    broken = _loop(frame, lambda: frame.assign(node.target, element), node.body)
    return _leave_loop(frame, frame.env if frame.run(node.orelse) else None, broken)


@register(STATEMENTS, ast.While)
def _while(frame: Frame, node: ast.While) -> bool:
    def test() -> None:
        frame.note_truth(frame.evaluate(node.test))
        narrow(frame, node.test, holds=True)

    broken = _loop(frame, test, node.body)
    if isinstance(node.test, ast.Constant) and node.test.value:
        return _leave_loop(frame, None, broken)
    narrow(frame, node.test, holds=False)
    return _leave_loop(frame, frame.env if frame.run(node.orelse) else None, broken)


_ROUNDS = 3
_DEEPEST = 4  # loops in one another that each have their own rounds


def _loop(frame: Frame, start: Callable[[], None], body: list[ast.stmt]) -> list[Environment]:
    """Run a loop body until what it finds at its start stops changing; twice is nearly always enough.

    That is what is known then where the loop ends of itself; what is known at each ``break`` is returned.
    A loop deep in others is run once in each of their rounds, or the rounds would multiply.
    """
    before = dict(frame.env)
    for _ in range(_ROUNDS if len(frame.loops) < _DEEPEST else 1):
        loop = Loop()
        frame.loops.append(loop)
        start()
        reached = frame.run(body)
        frame.loops.pop()
        joined = before
        for end in [*loop.continued, *([frame.env] if reached else [])]:
            joined = join_environments(joined, end)
        stable = all(joined.get(name) is value or joined.get(name) == value for name, value in before.items())
        before = joined
        frame.env = dict(joined)
        if stable:
            break
    return loop.broken


def _leave_loop(frame: Frame, ended: Environment | None, broken: list[Environment]) -> bool:
    """Go on behind a loop that ended of itself, if it could, or by a ``break``."""
    for end in broken:
        ended = join_environments(ended, end)
    if ended is None:
        return False
    frame.env = ended
    return True


@register(STATEMENTS, ast.Break)
def _break(frame: Frame, node: ast.Break) -> bool:
    if frame.loops:
        frame.loops[-1].broken.append(frame.env)
        frame.env = dict(frame.env)
    return False


@register(STATEMENTS, ast.Continue)
def _continue(frame: Frame, node: ast.Continue) -> bool:
    if frame.loops:
        frame.loops[-1].continued.append(frame.env)
        frame.env = dict(frame.env)
    return False
