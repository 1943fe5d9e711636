"""Statements: how the environment changes along the paths of a function."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from syncscan.check.infer.calls import call_method
from syncscan.check.infer.conventions import allows_waits
from syncscan.check.infer.expressions import binary
from syncscan.check.infer.hardware import runs_elsewhere
from syncscan.check.infer.index import imported_names
from syncscan.check.infer.narrow import Environment, key_of, narrow
from syncscan.check.infer.values import element_of, join, list_of
from syncscan.model import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from syncscan.check.infer.frame import Frame


def block(frame: Frame, body: list[ast.stmt]) -> bool:
    """Run statements in order; False if the end cannot be reached."""
    for node in body:
        handler = _HANDLERS.get(type(node))
        if handler is None:
            continue
        frame.statement = node
        if frame.recorder is not None:
            frame.recorder.begin(node)
            reached = handler(frame, node)
            frame.recorder.end()
        else:
            reached = handler(frame, node)
        if reached is False:
            return False
    return True


def join_environments(a: Environment | None, b: Environment | None) -> Environment:
    """What is known where two paths meet; a path that ended does not count."""
    if a is None or b is None:
        return dict(a or b or {})
    joined: Environment = {}
    for name, value in a.items():
        other = b.get(name)
        if other is None:
            if "." not in name and "[" not in name:
                joined[name] = value
        else:
            joined[name] = value if value is other else join(value, other)
    for name, value in b.items():
        if name not in a and "." not in name and "[" not in name:
            joined[name] = value
    return joined


def _expr(frame: Frame, node: ast.Expr) -> bool | None:
    frame.evaluate(node.value)
    return not _ends_program(node.value)


def _ends_program(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and key_of(node.func) in {"sys.exit", "os._exit", "exit", "pytest.skip"}


def _assign(frame: Frame, node: ast.Assign) -> None:
    value = frame.evaluate(node.value)
    for target in node.targets:
        frame.assign(target, _renamed(frame, target, value))


def _renamed(frame: Frame, target: ast.expr, value: Value) -> Value:
    return frame.named(value, target.id) if isinstance(target, ast.Name) else value


def _ann_assign(frame: Frame, node: ast.AnnAssign) -> None:
    promised = UNKNOWN
    if frame.class_body is None:  # what is promised of an attribute counts where nothing is seen to set it
        promised = frame.solver.annotations.read(node.annotation, frame.module, frame.function)
    if node.value is None:
        if promised is not UNKNOWN and isinstance(node.target, ast.Name):
            frame.assign(node.target, promised)
        return
    value = frame.evaluate(node.value)
    if value.kind is Kind.UNKNOWN or (value.element is UNKNOWN and promised.element is not None):
        value = promised
    frame.assign(node.target, value)


def _aug_assign(frame: Frame, node: ast.AugAssign) -> None:
    load = _as_load(node.target)
    old = frame.evaluate(load)
    value = frame.evaluate(node.value)
    result = binary(old, value, node.op)
    if old.kind is Kind.TENSOR:
        result = old  # in place: the tensor stays where it is
    if isinstance(node.target, ast.Subscript) and old.kind in {Kind.TENSOR, Kind.UNION}:
        base = frame.peek(node.target.value)
        frame.note_subscript(node.target, base, frame.peek(node.target.slice), result)
        return
    frame.assign(node.target, result)


def _as_load(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment, read: it is made once, and keeps its position."""
    try:
        return target._load  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        load = type(target)(**{**dict(ast.iter_fields(target)), "ctx": ast.Load()})
        ast.copy_location(load, target)
        target._load = load  # type: ignore[attr-defined]
        return load


def _return(frame: Frame, node: ast.Return) -> bool:
    value = frame.evaluate(node.value) if node.value is not None else None
    if value is not None:
        frame.returns(value, node.lineno)
    return False


def _raise(frame: Frame, node: ast.Raise) -> bool:
    if node.exc is not None:
        with frame.unsure():  # a program that fails may wait
            frame.evaluate(node.exc)
    return False


def _assert(frame: Frame, node: ast.Assert) -> bool:
    frame.note_truth(node.test, frame.evaluate(node.test))
    if node.msg is not None:
        saved = dict(frame.env)
        with frame.unsure():
            frame.evaluate(node.msg)
        frame.env = saved
    narrow(node.test, frame.env, frame.peek, holds=True)
    is_false = isinstance(node.test, ast.Constant) and node.test.value is False
    return not (is_false or runs_elsewhere(node.test, holds=True))


def _if(frame: Frame, node: ast.If) -> bool:
    frame.note_truth(node.test, frame.evaluate(node.test))
    before = frame.env
    after_body = _branch(frame, node.test, node.body, before, holds=True)
    after_else = _branch(frame, node.test, node.orelse, before, holds=False)
    if after_body is None and after_else is None:
        return False
    frame.env = join_environments(after_body, after_else)
    return True


def _branch(
    frame: Frame, test: ast.expr, body: list[ast.stmt], before: Environment, *, holds: bool
) -> Environment | None:
    """The environment after one side of a test; None if its end is not reached on a GPU."""
    frame.env = dict(before)
    if runs_elsewhere(test, holds=holds):
        frame.leave_out(body)
        return None
    narrow(test, frame.env, frame.peek, holds=holds)
    return _after(frame, body)


def _after(frame: Frame, body: list[ast.stmt]) -> Environment | None:
    """The environment after statements; None if their end cannot be reached."""
    return frame.env if block(frame, body) else None


@dataclass(slots=True)
class Loop:
    """A loop that is being run, and what was known where its body was left by a statement for that."""

    broken: list[Environment] = field(default_factory=list)
    continued: list[Environment] = field(default_factory=list)


def _for(frame: Frame, node: ast.For | ast.AsyncFor) -> bool:
    element = element_of(frame.evaluate(node.iter))
    broken = _loop(frame, lambda: frame.assign(node.target, element), node.body)
    return _leave_loop(frame, _after(frame, node.orelse), broken)


def _while(frame: Frame, node: ast.While) -> bool:
    def test() -> None:
        frame.note_truth(node.test, frame.evaluate(node.test))
        narrow(node.test, frame.env, frame.peek, holds=True)

    broken = _loop(frame, test, node.body)
    if isinstance(node.test, ast.Constant) and node.test.value:
        return _leave_loop(frame, None, broken)
    narrow(node.test, frame.env, frame.peek, holds=False)
    return _leave_loop(frame, _after(frame, node.orelse), broken)


def _loop(frame: Frame, start: Callable[[], None], body: list[ast.stmt]) -> list[Environment]:
    """Run a loop body until what it finds at its start stops changing; twice is nearly always enough.

    That is what is known then where the loop ends of itself; what is known at each ``break`` is returned.
    """
    before = dict(frame.env)
    for _ in range(3):
        loop = Loop()
        frame.loops.append(loop)
        start()
        reached = block(frame, body)
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


def _break(frame: Frame, node: ast.Break) -> bool:
    if frame.loops:
        frame.loops[-1].broken.append(frame.env)
        frame.env = dict(frame.env)
    return False


def _continue(frame: Frame, node: ast.Continue) -> bool:
    if frame.loops:
        frame.loops[-1].continued.append(frame.env)
        frame.env = dict(frame.env)
    return False


def _with(frame: Frame, node: ast.With | ast.AsyncWith) -> bool | None:
    outer = frame.default_device
    for item in node.items:
        value = frame.evaluate(item.context_expr)
        if value.kind is Kind.DEVICE:
            frame.default_device = value
        if item.optional_vars is not None:
            frame.assign(item.optional_vars, _entered(frame, value, item.context_expr))
    names = {_last_name(item.context_expr) for item in node.items}
    before = dict(frame.env)
    with frame.unsure(unsure=any(map(allows_waits, names))):
        reached = block(frame, node.body)
    frame.default_device = outer
    if reached is False and not names.isdisjoint(_SWALLOW):
        frame.env = join_environments(before, frame.env)
        return True
    return reached


_SWALLOW = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex"}
)  # the exception that ends the body


def _last_name(node: ast.expr) -> str:
    """The name of the function that makes a context manager, without what it is in."""
    return key_of(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def _entered(frame: Frame, value: Value, node: ast.expr) -> Value:
    """What ``with value as x`` binds."""
    if value.kind is Kind.LIST:  # a generator under contextlib.contextmanager
        return element_of(value)
    if value.kind is Kind.INSTANCE:
        entered = call_method(frame, value, "__enter__", [], {}, node)
        return value if entered.kind is Kind.UNKNOWN else entered
    return UNKNOWN


def _try(frame: Frame, node: ast.Try) -> bool:
    before = dict(frame.env)
    reached = block(frame, node.body)
    middle = join_environments(before, frame.env)
    if reached:
        reached = block(frame, node.orelse)
    ends = [frame.env] if reached else []
    for handler in node.handlers:
        frame.env = dict(middle)
        if handler.name:
            frame.env[handler.name] = UNKNOWN
        if block(frame, handler.body):
            ends.append(frame.env)
    frame.env = dict(ends[0]) if ends else middle
    for end in ends[1:]:
        frame.env = join_environments(frame.env, end)
    return block(frame, node.finalbody) and bool(ends)


def _match(frame: Frame, node: ast.Match) -> bool:
    subject = frame.evaluate(node.subject)
    before = dict(frame.env)
    ends: list[Environment] = [before]
    for case in node.cases:
        frame.env = dict(before)
        _capture(frame, case.pattern, subject)
        if case.guard is not None:
            frame.note_truth(case.guard, frame.evaluate(case.guard))
            narrow(case.guard, frame.env, frame.peek, holds=True)
        if block(frame, case.body):
            ends.append(frame.env)
    joined = ends[0]
    for end in ends[1:]:
        joined = join_environments(joined, end)
    frame.env = dict(joined)
    return True


def _capture(frame: Frame, pattern: ast.pattern, value: Value) -> None:
    """Bind the names in the pattern of a case; what is inside an object is not followed."""
    name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
    if name is not None:
        frame.bind(name, list_of(value) if isinstance(pattern, ast.MatchStar) else value, pattern)
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


def _delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        frame.env.pop(key_of(target), None)


def _import(frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    if frame.function.node is frame.module.tree:
        return
    for name, target in imported_names(node, frame.module).items():
        found = frame.solver.project.follow(target)
        if found is not None:
            frame.env[name] = frame.definition(found)
        else:
            cell = frame.solver.project.global_cell(target)
            frame.env[name] = frame.read(cell) if cell is not None else UNKNOWN


def _function(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    block(frame, _decorators(node))
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if default is not None:
            frame.evaluate(default)


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.stmt]:
    """The decorators as statements, for they stand before the definition; they are made once."""
    try:
        return node._decorators  # type: ignore[union-attr, no-any-return]
    except AttributeError:
        made = [ast.copy_location(ast.Expr(decorator), decorator) for decorator in node.decorator_list]
        node._decorators = made  # type: ignore[union-attr]
        return made  # type: ignore[return-value]


def _class(frame: Frame, node: ast.ClassDef) -> None:
    """The body of a class: what it assigns are attributes of the instances."""
    block(frame, _decorators(node))
    cls = frame.solver.classes.get(node)
    if cls is None:
        return
    outer, enclosing = dict(frame.env), frame.class_body
    frame.class_body = cls
    block(frame, node.body)
    frame.class_body = enclosing
    frame.env = outer


_HANDLERS: dict[type[ast.stmt], Callable[[Frame, Any], bool | None]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
}
if hasattr(ast, "TryStar"):
    _HANDLERS[ast.TryStar] = _try
