"""Calls from ``cases.toml``: plain lines of Python over named operands.

A line is a statement or an expression; what stands before ";;" readies the operands each time and is
not measured.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from types import CodeType, ModuleType
from typing import Any

from syncscan.measure.describe import Several
from syncscan.measure.operands import Operands
from syncscan.measure.probe import Probe, bind_in_order

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, slots=True)
class Sheet:
    """The entry of ``cases.toml`` for one operation.

    ``effect`` names the effect where it cannot be seen from outside. ``belief`` is a common belief that
    measurement contradicts. Operations of one ``process`` share one of their own. The lines
    decide ``alone`` where the samples of op_db take shortcuts (shapes that differ, values that match).
    """

    op: str
    args: tuple[str, ...]
    cases: tuple[str, ...]
    effect: str = ""
    belief: str = ""
    process: str = ""
    result: str = ""
    dtype: str = ""
    alone: bool = False


@functools.cache
def sheets() -> dict[str, Sheet]:
    """Return every sheet by the public name of its operation."""
    raw = tomllib.loads((files("syncscan.measure") / "cases.toml").read_text(encoding="utf-8"))
    return {op: _sheet(op, entry) for op, entry in raw.items()}


def _sheet(op: str, entry: dict[str, Any]) -> Sheet:
    cases = tuple(line.strip() for line in entry.pop("cases", "").splitlines() if line.strip())
    return Sheet(op, tuple(entry.pop("args", ("input",))), cases, **entry)


def probes(sheet: Sheet, device: str) -> Iterator[Probe]:
    """Return the calls of one sheet, each on operands of its own; a line that cannot be read fails as its call."""
    return (_probe_or_failure(sheet, line, device) for line in sheet.cases)


def _probe_or_failure(sheet: Sheet, line: str, device: str) -> Probe:
    try:
        return probe(sheet, line, Operands(device))
    except Exception as error:  # whatever a line raises, the others go on
        return Probe(sheet.op, line, {}, functools.partial(_fail, error))


def _fail(error: Exception) -> None:
    raise error


def probe(sheet: Sheet, line: str, operands: Operands) -> Probe:
    """Return the probe of one line, whose setup has run."""
    setup, _, code = (part.strip() for part in line.rpartition(";;"))
    ready = compile(setup or "pass", "<setup>", "exec")
    statement = ast.parse(code).body[0]
    run = _compiled(statement)
    exec(ready, {}, operands)  # noqa: S102 (lines of our own)
    args = arguments_of(
        statement.value if isinstance(statement, ast.Expr) else statement, sheet.args, operands
    )
    call = functools.partial(eval, run, {}, operands)
    return Probe(
        sheet.op, line, args, call, before=functools.partial(exec, ready, {}, operands), names=sheet.args
    )


def _compiled(statement: ast.stmt) -> CodeType:
    if isinstance(statement, ast.Expr):
        return compile(ast.Expression(statement.value), "<case>", "eval")
    return compile(ast.Module([statement], []), "<case>", "exec")


def arguments_of(node: ast.AST, names: tuple[str, ...], operands: Operands) -> dict[str, object]:
    """Return the argument of a line for each parameter of its operation."""
    if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
        rest = [_value(node.value, operands), *_place(target, operands)]
        return _subscript(target, names, operands) | bind_in_order(names[2:], rest)
    if isinstance(node, ast.Subscript) and names == ("input", "index"):
        return _subscript(node, names, operands)
    if isinstance(node, ast.Call):
        return _call(node, names, operands)
    return bind_in_order(names, [_value(part, operands) for part in _operands_of(node, operands)])


class _Capture:
    """An object that returns the index between its brackets."""

    def __getitem__(self, index: object) -> object:
        return index


def _value(part: ast.expr, operands: Operands) -> Any:
    code = compile(ast.fix_missing_locations(ast.Expression(part)), "<operand>", "eval")
    return eval(code, {"_capture": _Capture()}, operands)  # noqa: S307 (lines of our own)


def _place(target: ast.Subscript, operands: Operands) -> list[object]:
    """Return the value that a statement replaces; nothing where torch stores through an index and does not read."""
    try:
        return [_value(ast.Subscript(target.value, target.slice, ast.Load()), operands)]
    except RuntimeError:
        return []


def _subscript(node: ast.Subscript, names: tuple[str, ...], operands: Operands) -> dict[str, object]:
    index = _value(ast.Subscript(ast.Name("_capture", ast.Load()), node.slice, ast.Load()), operands)
    parts = Several(index) if isinstance(index, tuple) else index
    return bind_in_order(names[:1], [_value(node.value, operands)]) | {names[1]: parts}


def _call(node: ast.Call, names: tuple[str, ...], operands: Operands) -> dict[str, object]:
    given = [_value(argument, operands) for argument in node.args]
    if isinstance(node.func, ast.Attribute):
        receiver = _value(node.func.value, operands)
        if not isinstance(receiver, (type, ModuleType)):
            given.insert(0, receiver)
    return bind_in_order(names, given) | {k.arg: _value(k.value, operands) for k in node.keywords if k.arg}


def _operands_of(node: ast.AST, operands: Operands) -> list[ast.expr]:
    """Return the operands of an operator or a statement: its direct parts, or else every named tensor inside."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [ast.Name(node.target.id, ast.Load()), node.value]
    if isinstance(node, ast.Compare):
        swapped = isinstance(node.ops[0], (ast.In, ast.NotIn))
        return [*node.comparators, node.left] if swapped else [node.left, *node.comparators]
    return [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in operands]
