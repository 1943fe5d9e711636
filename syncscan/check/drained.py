"""Synchronizations right after another one: the function has launched no work on the GPU since, so the second blocks hardly longer.

Behind a queue of 127 ms, one `.item()` took 127 ms, another right after it 0.15 ms and an upload 0.3 ms (H100, torch 2.11).
The walk follows the statements of one function in order. The GPU has work queued at the start of a function and of each
iteration of a loop. A call outside the operation table may queue work, unless the call is a builtin or a method of host data.
A call of the project's own code leaves nothing queued where each function of that name, as the caller calls it, ends so. A
function that coroutines, unknown decorators or contexts surround has no known end. Neither has one that may return early.
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
# Decorators that run nothing behind a function.
_TRANSPARENT = frozenset({
    "abc.abstractmethod", "builtins.classmethod", "builtins.staticmethod", "torch.inference_mode", "torch.no_grad",
})  # fmt: skip
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
    """Return which of the blocking expressions of a function find the GPU drained, and how the function ends."""
    if isinstance(function.node, ast.Lambda):
        return Drains()
    walk = _Walk(statements, blocking)
    walk.end(walk.body(function.node.body, _ENTERED))
    is_plain = isinstance(function.node, ast.FunctionDef) and function.decorators <= _TRANSPARENT
    is_plain = is_plain and not function.is_generator and walk.ends is not _LEFT
    return Drains(walk.found, walk.ends if is_plain else None)


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
        self.ends = _either(self.ends, None if state is _ENTERED else state)

    def _inside(self, node: ast.stmt, state: State) -> State:
        """Walk the bodies of a statement; return the state behind the statement."""
        if isinstance(node, ast.If):
            return self._branches(node, state)
        if isinstance(node, _LOOPS):
            return self._loop(node, state)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._with(node, state)
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

    def _branches(self, node: ast.If, state: State) -> State:
        """Walk the branches of an `if` with all its `elif`; return the state behind it."""
        behind: State = _LEFT
        while True:
            ends = self.ends
            taken = self.body(node.body, state)
            if state is _ENTERED and _asks_for_none(node.test):
                self.ends = ends  # nobody calls a function for a return without work
            behind = _either(behind, taken)
            if _asks_for_gpu(node.test):
                self.body(node.orelse, state)
                return behind
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                return _either(behind, self.body(node.orelse, state))
            node = node.orelse[0]
            state = self._head(node, state)

    def _with(self, node: ast.With | ast.AsyncWith, state: State) -> State:
        """Walk the body of a `with`; a context may launch work at its end, and behind a return."""
        ends = self.ends
        behind = self.body(node.body, state)
        if all(map(_is_transparent, node.items)):
            return behind
        self.ends = ends if self.ends is ends else None
        return behind if behind is _LEFT else None

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: State) -> State:
        """Walk the body of a loop; return the state behind the loop. Without an iteration, that is ``state``."""
        self._loops.append(_Loop())
        end = self.body(node.body, None)
        loop = self._loops.pop()
        end = functools.reduce(_either, loop.continues, end)
        if isinstance(node, ast.While) and end is not _LEFT:
            end = self._test_again(node, end)
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
        behind = _LEFT if is_endless else self.body(node.orelse, _either(state, end))
        return functools.reduce(_either, loop.breaks, behind)

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
        for each, is_certain in _evaluated(node):
            position = position_of(each)
            if position in self._blocking or _synchronizes(each):
                if before not in (None, _ENTERED) and position in self._blocking:
                    self.found[position] = before
                after = Drained(node) if is_certain else after
            elif candidate is None or _may_call(each, candidate):
                before = after = _behind_call(each, node, candidate) if is_certain else None
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


def _behind_call(node: ast.expr, statement: ast.stmt, candidate: Candidate | None) -> State:
    """Return the state behind code that the walk does not see."""
    if candidate is None or not isinstance(node, ast.Call) or not _is_of_the_project(node, candidate):
        return None
    return Drained(statement, frozenset({last_name(node.func)}))


def _is_of_the_project(node: ast.Call, candidate: Candidate) -> bool:
    """Return whether a call runs known functions, and may pass them tensors on the GPU."""
    given = [
        candidate.at(position_of(each)) for each in (*node.args, *(each.value for each in node.keywords))
    ]
    if any(value.is_cpu_tensor for value in given) and not any(map(_may_be_on_gpu, given)):
        return False
    if not isinstance(node.func, ast.Attribute):
        return candidate.at(position_of(node.func)).kind is Kind.FUNCTION
    return candidate.at(position_of(node.func.value)).kind in {Kind.INSTANCE, Kind.CLASS, Kind.MODULE}


def _is_transparent(item: ast.withitem) -> bool:
    """Return whether a context launches nothing at its end, and passes exceptions on."""
    opened = item.context_expr
    name = dotted_name(opened.func if isinstance(opened, ast.Call) else opened)
    return name == "open" or name.startswith("torch.")


def _asks_for_none(test: ast.expr) -> bool:
    """Return whether a branch runs where a value is None."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is)


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


def _evaluated(node: ast.AST, *, is_certain: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the expressions of a statement's head, operands first, each with whether it is evaluated for certain."""
    for child in inside(node):
        if not isinstance(child, (ast.stmt, ast.Lambda, ast.ExceptHandler, ast.match_case)):
            here = is_certain and not _is_conditional(child, node)
            yield from _evaluated(child, is_certain=here)
            if isinstance(child, ast.expr):
                yield child, here


def _is_conditional(child: ast.AST, parent: ast.AST) -> bool:
    """Return whether an expression may leave one of its parts out, or put it off."""
    if isinstance(parent, ast.IfExp):
        return child is not parent.test
    if isinstance(parent, ast.BoolOp):
        return child is not parent.values[0]
    return isinstance(parent, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp))
