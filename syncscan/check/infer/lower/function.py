"""Lowering of a whole function, from its parameters to the names that nested functions read."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from syncscan.check.infer.ir.instructions import FunctionIR, Op
from syncscan.check.infer.lower.filling import emit_fills, note_exit
from syncscan.check.infer.lower.lowering import DEVICE, Listener, Lowering
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.scopes import Scopes
from syncscan.model import Conventions

for _module in iter_modules([str(Path(__file__).parent)]):
    if _module.name != "function":
        import_module(f"{__package__}.{_module.name}")  # which registers what it lowers


def lower(
    function: Function, scopes: Scopes, conventions: Conventions, listener: Listener | None = None
) -> FunctionIR:
    """Return the instructions of a function; none for a kernel, which Python never runs.

    Raises RecursionError where the source nests too deeply.
    """
    to = Lowering(function, scopes, conventions, listener)
    if function.is_of_a_kernel:
        return to.ir
    _enter(to, function)
    node = function.node
    if isinstance(node, ast.Lambda):
        _lambda_body(to, node)
    elif to.run(node.body):
        note_exit(to)
    emit_fills(to)
    if function.owner is not None:
        to.emit(Op.RESULT)
    if function.children or to.ir.lambdas:
        for name in sorted(scopes.captured_of(function)):
            if name in to.env:
                to.emit(Op.PUBLISH, (to.env[name],), name)
    to.ir.share()
    return to.ir


def _enter(to: Lowering, function: Function) -> None:
    owner = function.owner
    if function is not to.module.body and to.module.lines.mention("set_default_device"):
        to.env[DEVICE] = to.emit(Op.ENTRY_DEVICE, (), True)
    elif owner is not None and owner.is_module and owner.makes(function.name):
        to.env[DEVICE] = to.emit(Op.ENTRY_DEVICE, (), False)
    for position, parameter in enumerate(function.parameters):
        default = () if parameter.default is None else (to.evaluate(parameter.default),)
        slot = to.emit(Op.PARAMETER, default, position)
        to.parameters[slot] = parameter.name
        to.env[parameter.name] = slot


def _lambda_body(to: Lowering, node: ast.Lambda) -> None:
    """Lower the expression of a lambda; the listener sees the expression as part of the enclosing statement."""
    statement, listener = to.function.statement, to.listener
    if listener is not None and statement is not None:
        listener.begin(statement, to.switch)
    to.emit_at(node, Op.RETURN, (to.evaluate(node.body),))
    if listener is not None and statement is not None:
        listener.end()
