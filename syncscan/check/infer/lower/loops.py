"""Lowering of loops: a phi at the head joins the values before the loop and at the end of each iteration."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from syncscan.check.infer.ir.instructions import Op, Slot
from syncscan.check.infer.lower.environment import Changes, Loop
from syncscan.check.infer.lower.filling import is_container, passed_names
from syncscan.check.infer.lower.lowering import STATEMENTS, Lowering, lowers
from syncscan.check.infer.lower.narrowing import narrow
from syncscan.check.infer.source.syntax import walk

_CHANGES = frozenset(
    {
        "append",
        "add",
        "appendleft",
        "insert",
        "extend",
        "update",
        "setdefault",
        "resize_",
        "resize_as_",
        "set_",
    }
)


@lowers(STATEMENTS, ast.For, ast.AsyncFor)
def _for(to: Lowering, node: ast.For | ast.AsyncFor) -> bool:
    element = to.once(Op.ITERATED, (to.evaluate(node.iter),))
    start, broken = _loop(to, node, lambda: to.assign(node.target, element))
    return _leave_loop(to, start, broken, ended=to.run(node.orelse))


@lowers(STATEMENTS, ast.While)
def _while(to: Lowering, node: ast.While) -> bool:
    def test() -> None:
        to.truth(to.evaluate(node.test))
        narrow(to, node.test, holds=True)

    start, broken = _loop(to, node, test)
    if isinstance(node.test, ast.Constant) and node.test.value:
        return _leave_loop(to, start, broken, ended=False)
    narrow(to, node.test, holds=False)
    return _leave_loop(to, start, broken, ended=to.run(node.orelse))


def _loop(
    to: Lowering, node: ast.For | ast.AsyncFor | ast.While, start: Callable[[], None]
) -> tuple[int, list[Changes]]:
    """Lower a loop; return a mark at its exit, and the changes at each ``break``.

    Each path that the loop may set becomes a phi at the head. The phi joins the value before the loop and
    those at the end of each iteration.
    """
    env = to.env
    phis: dict[str, tuple[Slot, Slot | None]] = {}
    for path in _set_in(to, node):
        before = env.get(path)
        env.forget_inside(path)
        if before is None and _is_inside(path):
            continue
        phi = to.emit(Op.PHI, (before,) if before is not None else ())
        phis[path] = phi, before
        env[path] = phi
    loop = Loop(env.begin())
    to.loops.append(loop)
    start()
    reached = to.run(node.body)
    to.loops.pop()
    after = env.rewind(loop.start)
    ends = [*loop.continued, *([after] if reached else [])]
    for path, (phi, before) in phis.items():
        _close(to, path, phi, [before, *[end.get(path, phi) for end in ends]])
    return env.begin(), loop.broken


def _close(to: Lowering, path: str, phi: Slot, slots: list[Slot | None]) -> None:
    """Complete the operands of a phi at a loop head: the value before the loop, and those at the end of each iteration."""
    if slots[0] is not None and None in slots[1:] and _is_inside(path):
        to.env.forget(path)  # on some way back nothing is known of it
    unique = dict.fromkeys(slots)
    to.ir.operands[phi] = tuple(slot for slot in unique if slot is not None and slot != phi)


def _is_inside(path: str) -> bool:
    """Return whether a path leads into an object."""
    return "." in path or "[" in path


def _leave_loop(to: Lowering, start: int, broken: list[Changes], *, ended: bool) -> bool:
    """Join the paths that leave a loop: its regular end, if reachable, and each ``break``."""
    after = to.env.rewind(start)
    ends = [after, *broken] if ended else broken
    to.env.apply(to.meet(*ends) if ends else after)
    return bool(ends)


def _set_in(to: Lowering, loop: ast.For | ast.AsyncFor | ast.While) -> dict[str, None]:
    """Return the paths that a loop may set, each once."""
    nodes = (node for part in _parts(loop) for node in walk(part))
    found = dict.fromkeys(path for node in nodes for path in _set_by(to, node))
    found.update(dict.fromkeys(to.rebound))
    found.pop("", None)
    return found


def _set_by(to: Lowering, node: ast.AST) -> Iterator[str]:
    """Yield the paths that a node may set, "" among them."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        if not isinstance(node.ctx, ast.Load):
            yield to.path(node)
            if isinstance(node, ast.Subscript):
                yield to.path(node.value)
    elif isinstance(node, ast.Call):
        yield from _changed_by(to, node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from (name for _, name in passed_names(node.value) if is_container(to, name))
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield node.name or ""


def _changed_by(to: Lowering, call: ast.Call) -> Iterator[str]:
    """Yield the paths that a call may change, but for names of the module, as in ``torch.add(x, y)``."""
    yield from (to.path(keyword.value) for keyword in call.keywords if keyword.arg == "out")
    if isinstance(call.func, ast.Attribute) and call.func.attr in _CHANGES:
        path = to.path(call.func.value)
        if path in to.env or _is_inside(path):
            yield path


def _parts(loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[ast.AST]:
    yield loop.test if isinstance(loop, ast.While) else loop.target
    yield from loop.body


@lowers(STATEMENTS, ast.Break)
def _break(to: Lowering, node: ast.Break) -> bool:
    if to.loops:
        to.loops[-1].broken.append(to.env.changes(to.loops[-1].start))
    return False


@lowers(STATEMENTS, ast.Continue)
def _continue(to: Lowering, node: ast.Continue) -> bool:
    if to.loops:
        to.loops[-1].continued.append(to.env.changes(to.loops[-1].start))
    return False
