"""Synchronizations right after another one: the function has launched no work on the GPU since, so the second blocks hardly longer.

Behind a queue of 127 ms, one `.item()` took 127 ms, another right after it 0.15 ms and an upload 0.3 ms (H100, torch 2.11).
The walk follows the statements of one function in order. The GPU has work queued at the start of a function and of each
iteration of a loop. A call outside the operation table may queue work, unless the call is a builtin or a method of host data.
A call of the project's own code leaves nothing queued where each function of that name, as the function calls it, ends so.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from syncscan.check.infer.solve.record import Candidate, Position, Statements, position_of
from syncscan.check.infer.source.index import Function, Virtual
from syncscan.check.infer.source.syntax import inside, last_name
from syncscan.model import Kind, Value
from syncscan.syntax.names import dotted_name


@dataclass(frozen=True, slots=True)
class Drained:
    """The GPU has no work queued: ``by`` synchronized last, provided that the functions named in ``callees`` end drained."""

    by: ast.stmt
    callees: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Drains:
    """The synchronizations of a function that find the GPU drained; ``end`` is the state in which the function returns, see `State`."""

    before: dict[Position, Drained] = field(default_factory=dict)
    end: Drained | None = None


Callee = Function | Virtual
# None where the GPU may have work queued.
State = Drained | None

_LEFT: Final = Drained(ast.Pass())  # control flow does not get there
_ENTERED: Final = Drained(ast.Pass())  # the function has queued nothing so far, as its caller may have

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
    "PIL", "builtins", "collections", "copy", "cv2", "itertools", "json", "math", "numpy", "os", "pandas", "random", "re",
    "scipy", "sklearn", "sys", "time",
})  # fmt: skip


def drains_in(function: Function, statements: Statements, blocking: Collection[Position]) -> Drains:
    """Return which of the blocking expressions of a function find the GPU drained, and how the function ends.

    A return before any work does not count: programs call a function for what it does.
    """
    if isinstance(function.node, ast.Lambda):
        return Drains()
    walk = _Walk(statements, blocking)
    walk.end(walk.body(function.node.body, _ENTERED))
    return Drains(walk.found, None if function.is_generator or walk.ends is _LEFT else walk.ends)


class Endings:
    """The functions that end drained, by how they end themselves and by what they call."""

    def __init__(
        self,
        run_by: Callable[[Function], Iterable[Callee]],
        ends_behind: Callable[[Function], frozenset[str] | None],
    ) -> None:
        """Take the callees that are part of a function's run, and the names behind which a function ends, see `Matched`."""
        self._run_by = run_by
        self._ends_behind = ends_behind
        self._known: dict[Callee, bool] = {}

    def are_drained(self, function: Function, names: frozenset[str]) -> bool:
        """Return whether every callee of a function that has one of these names ends drained, and there is one of each name."""
        if not names:
            return True
        called = [each for each in self._run_by(function) if each.name in names]
        return names <= {each.name for each in called} and all(map(self._is_drained, called))

    def _is_drained(self, callee: Callee) -> bool:
        if callee not in self._known:
            self._known[callee] = False  # of a recursion nothing is known
            self._known[callee] = self._asked(callee)
        return self._known[callee]

    def _asked(self, callee: Callee) -> bool:
        if isinstance(callee, Virtual):
            return all(map(self._is_drained, callee.methods()))
        names = self._ends_behind(callee)
        return names is not None and self.are_drained(callee, names)


@dataclass(frozen=True, slots=True)
class _Loop:
    """The states in which iterations of a loop end early."""

    continues: list[State] = field(default_factory=list)
    breaks: list[State] = field(default_factory=list)


class _Walk:
    """One walk, with the expressions found so far, and the state in which the returns so far end."""

    def __init__(self, statements: Statements, blocking: Collection[Position]) -> None:
        self._statements = statements
        self._blocking = blocking
        self._loops: list[_Loop] = []  # around the statement at hand
        self.found: dict[Position, Drained] = {}
        self.ends: State = _LEFT

    def body(self, body: Sequence[ast.stmt], state: State) -> State:
        """Walk statements in order; return the state behind them."""
        for node in body:
            if state is _LEFT:
                break
            if not isinstance(node, _DEFINES):
                state = self._inside(node, self._head(node, state))
        return state

    def end(self, state: State) -> None:
        """Note the state in which the function returns."""
        if state is not _LEFT and state is not _ENTERED:
            self.ends = _either(self.ends, state)

    def _inside(self, node: ast.stmt, state: State) -> State:
        """Walk the bodies of a statement; return the state behind the statement."""
        if isinstance(node, ast.If):
            behind = self.body(node.body, state), self.body(node.orelse, state)
            return behind[0] if _asks_for_gpu(node.test) else _either(*behind)
        if isinstance(node, _LOOPS):
            return self._loop(node)
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
        if isinstance(node, ast.Return):
            self.end(state)
        elif isinstance(node, (ast.Continue, ast.Break)) and self._loops:
            loop = self._loops[-1]
            states = loop.continues if isinstance(node, ast.Continue) else loop.breaks
            states.append(state)
        return _LEFT if isinstance(node, _LEAVES) else state

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> State:
        """Walk the body of a loop; return the state behind the loop, which runs once at least."""
        self._loops.append(_Loop())
        state = self.body(node.body, None)
        loop = self._loops.pop()
        state = functools.reduce(_either, loop.continues, state)
        if isinstance(node, ast.While) and state is not _LEFT:
            is_endless = isinstance(node.test, ast.Constant)
            state = _LEFT if is_endless else self._test_again(node, state)
        return functools.reduce(_either, loop.breaks, self.body(node.orelse, state))

    def _test_again(self, node: ast.While, state: State) -> State:
        """Return the state behind the test of a loop, which another iteration has evaluated first."""
        found, self.found = self.found, {}
        state = self._head(node, state)
        self.found = found
        return state

    def _head(self, node: ast.stmt, state: State) -> State:
        """Evaluate the expressions of a statement in order; return the state behind them."""
        candidate = self._statements.get((node.lineno, node.col_offset))
        before, after = state, state
        for each in _evaluated(node):
            position = position_of(each)
            if position in self._blocking or _synchronizes(each):
                if before not in (None, _ENTERED) and position in self._blocking:
                    self.found[position] = before
                after = Drained(node)
            elif candidate is None or _may_call(each, candidate):
                before = after = _behind_call(each, node)
            elif _computes(each, candidate):
                after = None  # a synchronization of this statement itself waits for no other work
        if isinstance(node, ast.AugAssign) and (candidate is None or not _is_host_data(node, candidate)):
            return None
        return after


def _either(one: State, other: State) -> State:
    """Return the state where two paths join."""
    if one is _LEFT or other is _LEFT:
        return other if one is _LEFT else one
    if one is other:
        return one
    if one is None or other is None or one is _ENTERED or other is _ENTERED:
        return None
    last = max(one, other, key=lambda state: state.by.lineno)
    return Drained(last.by, one.callees | other.callees)


def _behind_call(node: ast.expr, statement: ast.stmt) -> State:
    """Return the state behind code that the walk does not see."""
    name = last_name(node.func) if isinstance(node, ast.Call) else ""
    return Drained(statement, frozenset({name})) if name else None


def _asks_for_gpu(test: ast.expr) -> bool:
    """Return whether a branch runs where there is a GPU; no work is queued elsewhere."""
    return isinstance(test, ast.Call) and dotted_name(test.func) == "torch.cuda.is_available"


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
    call = candidate.call_at(position)
    if call is not None and call.operation.result == "view":
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
