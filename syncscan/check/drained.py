"""Synchronizations right after another one: the function has launched no work on the GPU since, so the second blocks hardly longer.

Behind a queue of 127 ms, one `.item()` took 127 ms, another right after it 0.15 ms and an upload 0.3 ms (H100, torch 2.11).
The walk follows the statements of one function in order. The GPU has work queued at the start of a function and of each
iteration of a loop. A call outside the operation table may queue work, unless the call is a builtin or a method of host data.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from syncscan.check.infer.solve.record import Candidate, Position, Statements, position_of
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.source.syntax import inside, last_name
from syncscan.model import Kind, Value

# The last statement that synchronized; None where the GPU may have work queued since.
State = ast.stmt | None

_LEFT: Final = ast.Pass()  # control flow does not get there

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPUTES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)
_SYNCHRONIZES = re.compile(r"(?!.*(skip|no|without|disable|avoid)_)(.*_)?(synchronize|sync)")
_LOGS = re.compile(r"_?log(ger|ging)?|warnings", re.IGNORECASE)
_HOST_DATA = frozenset({
    Kind.NUMBER, Kind.STRING, Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET, Kind.NDARRAY, Kind.SLICE,
})  # fmt: skip
_BUILTINS = frozenset({
    "abs", "bool", "dict", "enumerate", "float", "hasattr", "int", "isinstance", "len", "list", "max", "min", "print",
    "range", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip",
})  # fmt: skip
_HOST_MODULES = frozenset({
    "builtins", "collections", "copy", "itertools", "json", "math", "numpy", "os", "random", "re", "sys", "time",
})  # fmt: skip


def drained_before(
    function: Function, statements: Statements, blocking: Collection[Position]
) -> dict[Position, ast.stmt]:
    """Return the blocking expressions of a function that follow another, each with the statement of the other."""
    if isinstance(function.node, ast.Lambda) or not blocking:
        return {}
    walk = _Walk(statements, blocking)
    walk.body(function.node.body, None)
    return walk.found


class _Walk:
    """One walk, with the expressions found so far."""

    def __init__(self, statements: Statements, blocking: Collection[Position]) -> None:
        self._statements = statements
        self._blocking = blocking
        self.found: dict[Position, ast.stmt] = {}

    def body(self, body: Sequence[ast.stmt], state: State) -> State:
        """Walk statements in order; return the state behind them."""
        for node in body:
            if state is _LEFT:
                break
            if not isinstance(node, _DEFINES):
                state = self._inside(node, self._head(node, state))
        return state

    def _inside(self, node: ast.stmt, state: State) -> State:
        """Walk the bodies of a statement; return the state behind the statement."""
        if isinstance(node, ast.If):
            return _either(self.body(node.body, state), self.body(node.orelse, state))
        if isinstance(node, _LOOPS):
            return _either(self.body(node.orelse, state), self.body(node.body, None))
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self.body(node.body, state)
        if isinstance(node, ast.Try):
            self.body(node.orelse, self.body(node.body, state))
            for each in (*[handler.body for handler in node.handlers], node.finalbody):
                self.body(each, None)
            return None
        if isinstance(node, ast.Match):
            for case in node.cases:
                self.body(case.body, None)
            return None
        return _LEFT if isinstance(node, _LEAVES) else state

    def _head(self, node: ast.stmt, state: State) -> State:
        """Evaluate the expressions of a statement in order; return the state behind them."""
        candidate = self._statements.get((node.lineno, node.col_offset))
        before, after = state, state
        for each in _evaluated(node):
            position = position_of(each)
            if position in self._blocking or _synchronizes(each):
                if before is not None and position in self._blocking:
                    self.found[position] = before
                after = node
            elif candidate is None or _may_call(each, candidate):
                before = after = None
            elif _computes(each, candidate):
                after = None  # a synchronization of this statement itself waits for no other work
        if isinstance(node, ast.AugAssign) and (candidate is None or not _is_host_data(node, candidate)):
            return None
        return after


def _either(one: State, other: State) -> State:
    """Return the state where two paths join."""
    if one is _LEFT or other is _LEFT:
        return other if one is _LEFT else one
    return None if one is None or other is None else max(one, other, key=lambda node: node.lineno)


def _synchronizes(node: ast.expr) -> bool:
    """Return whether an expression calls a function that synchronizes by its name, such as ``torch_sync()``."""
    return isinstance(node, ast.Call) and _SYNCHRONIZES.fullmatch(last_name(node.func)) is not None


def _may_call(node: ast.expr, candidate: Candidate) -> bool:
    """Return whether an expression runs code that the walk does not see."""
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom))
    position, callee = position_of(node), node.func
    if isinstance(callee, ast.Name) and callee.id in _BUILTINS:
        return False
    if isinstance(callee, ast.Attribute) and _LOGS.fullmatch(last_name(callee.value)):
        return _may_be_on_gpu(candidate.at(position_of(callee.value)))
    if position in candidate.calls:  # an operation of the table, such as `backward`, which has no result
        return position not in candidate.queued and not _is_data(candidate.at(position))
    if not isinstance(callee, ast.Attribute):
        return True
    base = candidate.at(position_of(callee.value))
    if base.kind is Kind.MODULE:
        return not isinstance(base.payload, str) or base.payload.partition(".")[0] not in _HOST_MODULES
    return not all(option.kind in _HOST_DATA or option.is_cpu_tensor for option in base.options)


def _is_host_data(node: ast.AugAssign, candidate: Candidate) -> bool:
    """Return whether an operation in place changes host data, such as a counter."""
    value = candidate.at(position_of(node.target))
    return all(option.kind in _HOST_DATA for option in value.options)


def _is_data(value: Value) -> bool:
    """Return whether a value is a tensor or host data, and not None."""
    return bool(value.options) and all(option.kind in {Kind.TENSOR, *_HOST_DATA} for option in value.options)


def _computes(node: ast.expr, candidate: Candidate) -> bool:
    """Return whether an expression computes a tensor that may be on the GPU, stores into one, or gathers items by a tensor."""
    position = position_of(node)
    if isinstance(node, ast.Subscript):
        decides = node.value if isinstance(node.ctx, ast.Store) else node.slice
        return _may_be_on_gpu(candidate.at(position_of(decides)))
    if not isinstance(node, _COMPUTES) or position in candidate.queued:
        return False
    return _may_be_on_gpu(candidate.at(position))


def _may_be_on_gpu(value: Value) -> bool:
    return any(option.kind is Kind.TENSOR and not option.is_cpu_tensor for option in value.options)


def _evaluated(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of a statement's head, operands first."""
    for child in inside(node):
        if not isinstance(child, (ast.stmt, ast.Lambda, ast.ExceptHandler, ast.match_case)):
            yield from _evaluated(child)
            if isinstance(child, ast.expr):
                yield child
