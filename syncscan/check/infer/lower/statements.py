"""Lowering of the other statements: expressions, contexts, imports, definitions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from syncscan.check.infer.ir.instructions import CallSite, FunctionIR, Op, Slot
from syncscan.check.infer.lower.filling import note_exit, note_passed
from syncscan.check.infer.lower.lowering import DEVICE, STATEMENTS, Lowering, lowers
from syncscan.check.infer.source.conventions import allows_waits
from syncscan.check.infer.source.index import Import, imported_names
from syncscan.check.infer.source.syntax import decorators_of, last_name
from syncscan.syntax.names import dotted_name

_END_THE_PROGRAM = frozenset({"sys.exit", "os._exit", "exit", "pytest.skip"})
_SWALLOW = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex"}
)  # the exception that ends the body


@lowers(STATEMENTS, ast.Expr)
def _expr(to: Lowering, node: ast.Expr) -> bool:
    note_passed(to, node.value, to.evaluate(node.value))
    if not isinstance(node.value, ast.Call):
        return True
    return to.module.imported_name(dotted_name(node.value.func)) not in _END_THE_PROGRAM


@lowers(STATEMENTS, ast.Return)
def _return(to: Lowering, node: ast.Return) -> bool:
    if node.value is not None:
        for slot in _sides(to.ir, to.evaluate(node.value)):
            to.emit_at(node, Op.RETURN, (slot,))
    note_exit(to)
    return False


def _sides(ir: FunctionIR, slot: Slot) -> Sequence[Slot]:
    """Return the values that paths bring to a ``return``, since a function may return one of them as it was passed.

    What a loop replaces is one value: hardly any run has no iteration.
    """
    sides, met = list[Slot](), dict.fromkeys([slot])
    for each in (queue := [slot]):
        brought = ir.operands[each] if ir.ops[each] == Op.PHI else ()
        if brought and max(brought) < each:
            queue += [side for side in dict.fromkeys(brought) if side not in met]
            met.update(dict.fromkeys(brought))
        else:
            sides.append(each)
    return sides if len(sides) <= _MOST_SIDES else (slot,)


_MOST_SIDES = 4


@lowers(STATEMENTS, ast.With, ast.AsyncWith)
def _with(to: Lowering, node: ast.With | ast.AsyncWith) -> bool | None:
    outer = to.env.get(DEVICE)
    for item in node.items:
        slot = to.evaluate(item.context_expr)
        before = to.env.get(DEVICE)
        if _may_be_device(item.context_expr):
            to.env[DEVICE] = to.once(Op.WITH_DEVICE, (before if before is not None else to.nothing(), slot))
        if item.optional_vars is not None:
            to.assign(item.optional_vars, to.emit(Op.ENTERED, (slot,), to.is_allowed))
    names = {_maker(to, made) for item in node.items for made in _either(item.context_expr)}
    start, allowed_outside = to.env.begin(), to.is_allowed
    to.is_allowed = allowed_outside or any(map(allows_waits, names))
    with to.silent(silent=to.is_allowed):
        reached = to.run(node.body)
    to.is_allowed = allowed_outside
    after = to.env.rewind(start)
    swallows = not names.isdisjoint(_SWALLOW)
    to.env.apply(to.meet({}, after) if swallows else after)
    if outer is None:
        to.env.forget(DEVICE)
    else:
        to.env[DEVICE] = outer
    return swallows or reached


def _may_be_device(node: ast.expr) -> bool:
    """Return whether a context manager may be ``torch.device(...)`` or a variable with a device."""
    if isinstance(node, ast.Call):
        return "device" in last_name(node.func)
    return "device" in last_name(node)


def _either(node: ast.expr) -> tuple[ast.expr, ...]:
    """Return both sides of ``nullcontext() if captured else gpu_sync_allowed()``."""
    return (*_either(node.body), *_either(node.orelse)) if isinstance(node, ast.IfExp) else (node,)


def _maker(to: Lowering, node: ast.expr) -> str:
    """Return the original name of the function that makes a context manager, through renamed imports."""
    if not isinstance(node, ast.Call):
        return ""
    if not isinstance(node.func, ast.Name):
        return last_name(node.func)
    target = to.module.names.get(node.func.id)
    return target.name if isinstance(target, Import) and target.name else node.func.id


@lowers(STATEMENTS, ast.Import, ast.ImportFrom)
def _import(to: Lowering, node: ast.Import | ast.ImportFrom) -> None:
    if to.function.node is to.module.tree:
        return
    for name, target in imported_names(node, to.module).items():
        to.env[name] = to.once(Op.IMPORT, (), (target.module, target.name))


@lowers(STATEMENTS, ast.FunctionDef, ast.AsyncFunctionDef)
def _function(to: Lowering, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    to.run(decorators_of(node))
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if default is not None:
            to.evaluate(default)
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if "regist" in last_name(called):
            _decorate(to, node, decorator)


@lowers(STATEMENTS, ast.ClassDef)
def _class(to: Lowering, node: ast.ClassDef) -> None:
    """Lower the body of a class, whose assignments are attributes of the instances."""
    to.run(decorators_of(node))
    cls = to.module.class_at(node)
    if cls is None:
        return
    outer, enclosing = to.env.begin(), to.class_body
    to.class_body = cls
    to.run(node.body)
    to.class_body = enclosing
    to.env.undo(outer)
    for decorator in reversed(node.decorator_list):
        _decorate(to, node, decorator)


def _decorate(
    to: Lowering, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr
) -> None:
    """Call a decorator for its effects: it may put what it decorates, at the top or in a function, into a register."""
    if to.class_body is not None:  # whose names are not those of variables
        return
    decorated = to.once(Op.READ_NAME, (), node.name)
    to.emit_at(decorator, Op.CALL, (to.peek(decorator), decorated), CallSite(1))
