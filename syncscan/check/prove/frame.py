"""A walk through the syntax tree of a function, with the values of its names on each path."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.check.prove.answer import Group
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.ran import Ran
from syncscan.check.prove.recorded import Recorded
from syncscan.check.prove.source import Asked, Definitions, Question
from syncscan.check.prove.uses import changed_inside
from syncscan.check.prove.values import BOTTOM, TOP, AbstractValue, join, merged
from syncscan.check.prove.walk import Obstacle, SourceRange, Walk
from syncscan.model import Kind

Env = dict[str, AbstractValue]
Handler = TypeVar("Handler", bound=Callable[..., object])
EXPRESSIONS: dict[str, Callable[..., Any]] = {}  # to abstract values
STATEMENTS: dict[str, Callable[..., Any]] = {}  # False where the end cannot be reached
TRANSFERS: dict[str, Callable[..., Any]] = {}  # for calls and attributes, whose modules import this one
_MOST_ROUNDS = 6  # of a loop, after which the names that still change are widened to anything
# Rounds of all loops of one walk, which loops in loops double. After so many, all names that a loop changes are widened at once.
_MOST_OF_ALL_ROUNDS = 1000

_RESOLVE = "annotate what is called with its class, or assert its class, or declare it under [tool.syncscan.operations]"


def handles(table: dict[str, Callable[..., Any]], *kinds: str) -> Callable[[Handler], Handler]:
    """Enter a function for the nodes of some types, by their names."""

    def enter(handler: Handler) -> Handler:
        table.update(dict.fromkeys(kinds, handler))
        return handler

    return enter


class Walks(Protocol):
    """The questions of a walk to the others."""

    source: Definitions
    assumptions: Assumptions
    ran: Ran
    recorded: Recorded
    readers: dict[Function, frozenset[str]]

    @property
    def is_dense(self) -> bool:
        """Return whether no statement makes sparse tensors; of a run, none that ran."""

    def answer(self, question: Question) -> Any:
        """Return the answer to a question to the project."""

    def asked(self, function: Function) -> Walk:
        """Return the walk of another function, as far as it is known."""

    def walked_with(self, function: Function, known: Mapping[str, AbstractValue]) -> Walk | None:
        """Return the walk of a function where some parameters have a known value; None where that goes too deep."""

    def parameter(self, function: Function, name: str) -> AbstractValue:
        """Return the value of a parameter."""

    def returned(self, function: Function) -> AbstractValue:
        """Return the result of a function."""

    def attribute(self, cls: Class, name: str) -> AbstractValue:
        """Return the value of an object's attribute."""

    def written(self, cls: Class, name: str) -> AbstractValue | None:
        """Return the declared value of an attribute, or the join of all stores in the project."""

    def hooks(self) -> list[Function | str]:
        """Return the hooks of modules."""


class Arguments(NamedTuple):
    """The arguments of a call.

    ``spreads`` says that the call passes on more than is written out, each of them a ``rest``. Behind ``certain`` positional
    arguments stands a star of unknown length, after which no position is certain. ``by_position`` says that only stars pass on more.
    """

    args: tuple[AbstractValue, ...] = ()
    kwargs: Mapping[str, AbstractValue] = {}
    spreads: bool = False
    rest: AbstractValue = TOP
    certain: int | None = None
    by_position: bool = False

    @property
    def values(self) -> tuple[AbstractValue, ...]:
        """Return all of them."""
        return (*self.args, *self.kwargs.values())

    def given(self, position: int, name: str) -> AbstractValue | None:
        """Return an argument by its position or name; None where it is not given."""
        if name in self.kwargs:
            return self.kwargs[name]
        if position < (len(self.args) if self.certain is None else self.certain):
            return self.args[position]
        return self.rest if self.spreads else None

    def on(self, base: AbstractValue) -> Arguments:
        """Return the arguments of a method as arguments of its function."""
        certain = None if self.certain is None else self.certain + 1
        return self._replace(args=(base, *self.args), certain=certain)

    def behind_first(self) -> Arguments:
        """Return the arguments but for the class that ``__new__`` is given."""
        certain = None if self.certain is None else max(self.certain - 1, 0)
        return self._replace(args=self.args[1:], certain=certain)

    @property
    def spreads_more(self) -> bool:
        """Return whether the call passes on more than numbers."""
        return self.spreads and self.rest.kind is not Kind.NUMBER


@dataclass(slots=True)
class _Loop:
    """The names at the exits of a loop, and at the start of its next iteration."""

    ends: list[Env] = field(default_factory=list)
    again: list[Env] = field(default_factory=list)


class WalkFrame:
    """One function on the way through its statements."""

    def __init__(self, prover: Walks, walk: Walk) -> None:
        self.prover = prover
        self.source = prover.source
        self.walk = walk
        self.function: Function = walk.function
        self.module: Module = walk.function.module
        self.env: Env = {}
        self.class_body: Class | None = None
        self.statement: ast.stmt | None = None
        self._tries: list[Env] = []
        self._handlers = 0  # around the statement at hand that may swallow an exception
        self._loops: list[_Loop] = []
        self._rounds = 0
        self._allowed = 0
        self.hands_out = 0  # in expressions whose functions and classes count as called where they are named
        self.resolving: set[ast.AST] = set()  # calls whose recorded callees are walked

    # Obstacles and assumptions

    def place(self, node: ast.AST) -> SourceRange:
        """Return where a node stands."""
        return place_of(self.module, node)

    def obstacle(self, group: Group, node: ast.AST, reason: str, fact: str = "") -> None:
        """Note an obstacle."""
        if self._allowed or self.prover.ran.never_called(self.module, node):
            return
        place = self.place(node)
        if (place, group) not in self.walk.obstacles:
            text = self.text(node)
            found = Obstacle(group, place, self.function.qualname, text, reason, fact)
            self.walk.obstacles[place, group] = found

    def may(self, node: ast.AST, operand: ast.AST | None, reason: str, fact: str = "") -> None:
        """Note that something may synchronize, if an operand is on the GPU."""
        if not fact and operand is not None:
            text = _short(self.text(operand))
            reason = reason.format(f"`{text}`")
            fact = _fact_about(operand, text)
        self.obstacle(Group.MAY, node, reason, fact)

    def unknown(self, node: ast.AST, what: str = "", among: str = "", fact: str = _RESOLVE) -> AbstractValue:
        """Note a call that cannot be resolved, and look behind it where the check has resolved it.

        Code that runs without a call that is written out, such as a generator, is known where a trace recorded calls.
        """
        if self.prover.ran.knows_calls and not isinstance(node, ast.Call):
            return TOP
        self.obstacle(Group.UNKNOWN, node, what or "what is called is not known", fact)
        if among:
            for function in self.prover.answer(Question(Asked.RESOLVED, self.function, among)):
                self.calls(node, function)
        return TOP

    def gives_up(self, node: ast.AST, reason: str) -> AbstractValue:
        """Note code that the proof cannot follow, also where a trace recorded calls."""
        self.obstacle(Group.UNKNOWN, node, reason, _RESOLVE)
        return TOP

    def calls(
        self, node: ast.AST, function: Function, values: dict[str, AbstractValue] | None = None
    ) -> None:
        """Note that a function may be called, and what its parameters may be, anything where that is not given."""
        line = getattr(node, "lineno", 0)
        if self.prover.ran.knows_calls:
            self.walk.passes(function, (line, getattr(node, "end_lineno", None) or line), values or {})
        if self._allowed or not self.prover.ran.body(function):
            return
        self.walk.call_lines.setdefault(function, set()).add(line)

    def runs(self, node: ast.AST, function: Function, known: Mapping[str, AbstractValue]) -> None:
        """Note the calls of a function in a run where some parameters have a known value.

        A function with an obstacle in that run counts as called, and so does each with a trace, which knows the lines that ran.
        """
        is_given = self.prover.ran.knows_calls
        found = None if is_given else self.prover.walked_with(function, known)
        if found is None or found.obstacles:
            self.calls(node, function)
        elif not self._allowed:
            line = getattr(node, "lineno", 0)
            for callee in found.call_lines:
                self.walk.call_lines.setdefault(callee, set()).add(line)
            self.walk.assumed.update(found.assumed)
            self.walk.is_partial = self.walk.is_partial or found.is_partial

    def assume(self, text: str) -> None:
        """Note something that the proof rests on."""
        self.walk.assumed[text] = None

    def text(self, node: ast.AST) -> str:
        """Return the source of a node, on one line."""
        return text_of(self.module, node)

    @contextmanager
    def allowed(self, reason: str) -> Iterator[None]:
        """Treat the code inside as a region that allows synchronization."""
        self.assume(reason)
        self._allowed += 1
        yield
        self._allowed -= 1

    @contextmanager
    def handing_out(self) -> Iterator[None]:
        """Count the functions and classes that an expression names as called: a caller receives them."""
        self.hands_out += 1
        yield
        self.hands_out -= 1

    # Dispatch to transfer functions

    def evaluate(self, node: ast.AST) -> AbstractValue:
        """Return the value of an expression."""
        handler = EXPRESSIONS.get(type(node).__name__)
        if handler is None:
            return self.gives_up(node, f"syntax that the proof does not know: {type(node).__name__}")
        value: AbstractValue = handler(self, node)
        self.walk.is_partial = self.walk.is_partial or value is BOTTOM
        return value

    def run(self, body: Iterable[ast.stmt]) -> bool:
        """Walk statements in order; return whether the end may be reached."""
        for node in body:
            if not self.prover.ran.statement(self.module, node):
                return False
            outer, self.statement = self.statement, node
            handler = STATEMENTS.get(type(node).__name__)
            if handler is None:
                self.gives_up(node, f"syntax that the proof does not know: {type(node).__name__}")
                continue
            reached = handler(self, node)
            self.statement = outer
            if reached is False:
                return False
        return True

    def call(self, node: ast.AST, callee: AbstractValue, args: Arguments, among: str = "") -> AbstractValue:
        """Walk a call of a value; return the result."""
        if callee is BOTTOM or BOTTOM in args.values:
            return BOTTOM  # not computed yet
        value: AbstractValue = TRANSFERS["call"](self, node, callee, args, among)
        return value

    def method(self, node: ast.AST, base: AbstractValue, name: str, args: Arguments) -> AbstractValue:
        """Walk the call of a method; return the result."""
        value: AbstractValue = TRANSFERS["method"](self, node, base, name, args)
        return value

    def attribute(self, node: ast.AST, base: AbstractValue, name: str) -> AbstractValue:
        """Walk a read of an attribute; return the value."""
        if base is BOTTOM:
            return BOTTOM
        value: AbstractValue = TRANSFERS["attribute"](self, node, base, name)
        return value

    # Names

    def bind(self, name: str, value: AbstractValue) -> None:
        """Bind a name."""
        if name in self.function.global_names or name in self.function.nonlocal_names:
            self.env.pop(name, None)  # other functions may set the name too
        else:
            self.env[name] = value
        known = self.walk.bound.get(name)
        self.walk.bound[name] = value if known is None else join(known, value)
        for env in self._tries:
            env[name] = join(env[name], value) if name in env else value

    def refine(self, name: str, value: AbstractValue) -> None:
        """Narrow a name to the rest of its value; an empty rest becomes any value."""
        self.env[name] = TOP if value is BOTTOM and self.env.get(name) is not BOTTOM else value

    @contextmanager
    def trying(self) -> Iterator[Env]:
        """Gather the names at every point inside, for the handlers of exceptions raised there."""
        env = dict(self.env)
        self._tries.append(env)
        yield env
        self._tries.pop()

    @contextmanager
    def catching(self, *, swallows: bool) -> Iterator[None]:
        """Walk code whose exceptions a handler, or a context, may swallow."""
        self._handlers += swallows
        yield
        self._handlers -= swallows

    def yields(self) -> None:
        """Note a ``yield``, at which the caller may raise an exception."""
        self.walk.swallows = self.walk.swallows or self._handlers > 0

    def loop(self, node: ast.AST, body: Callable[[], bool], after: Callable[[], bool]) -> bool:
        """Walk the body of a loop until no name changes; return whether the code behind the loop may be reached.

        ``after`` narrows the names where the loop ends by itself, and returns whether it may.
        """
        start, iterations = dict(self.env), 0
        while True:
            loop, iterations = _Loop(), iterations + 1
            self._rounds += 1
            if self._rounds > _MOST_OF_ALL_ROUNDS:
                start.update(dict.fromkeys(changed_inside(node), TOP))
            self._loops.append(loop)
            self.env = dict(start)
            reached = body()
            self._loops.pop()
            head = start
            for env in [*loop.again, *([self.env] if reached else [])]:
                head = merged(head, env)
            if head == start:
                break
            if iterations >= _MOST_ROUNDS:
                head = {name: value if start.get(name) is value else TOP for name, value in head.items()}
            start = head
        self.env = start
        ends = [*loop.ends]
        if after():
            ends.insert(0, self.env)
        self.env = ends[0] if ends else start
        for env in ends[1:]:
            self.env = merged(self.env, env)
        return bool(ends)

    def leaves(self, *, again: bool) -> None:
        """Note the names at a ``break``, or a ``continue``."""
        if self._loops:
            loop = self._loops[-1]
            (loop.again if again else loop.ends).append(dict(self.env))

    def branch(self, *ways: Callable[[], bool]) -> bool:
        """Walk each of several ways from here; return whether the code behind them may be reached."""
        start, reached = self.env, list[Env]()
        for way in ways:
            self.env = dict(start)
            if way():
                reached.append(self.env)
        if not reached:
            self.env = dict(start)
            return False
        self.env = reached[0]
        for env in reached[1:]:
            self.env = merged(self.env, env)
        return True


_LONGEST = 60


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _fact_about(operand: ast.AST, text: str) -> str:
    """Return the fact that would show that an operand is no tensor on the GPU."""
    if isinstance(operand, ast.Name | ast.Attribute | ast.Subscript):
        return f"annotate `{text}` with a type that is no tensor, or `assert {text}.is_cpu`"
    if isinstance(operand, ast.Call):
        return f"annotate the result of `{text}` with a type that is no tensor"
    return f"annotate the operands of `{text}` with types that are no tensors"


def place_of(module: Module, node: ast.AST) -> SourceRange:
    """Return where a node stands; a statement with a body counts as its first line."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end, end_column = (
        getattr(node, "end_lineno", None) or line,
        getattr(node, "end_col_offset", None) or column,
    )
    rows = module.lines.split()
    return SourceRange(
        module.path, line, _characters(rows, line, column) + 1, end, _characters(rows, end, end_column) + 1
    )


def _characters(rows: object, line: int, offset: int) -> int:
    row: str = rows[line - 1] if line <= len(rows) else ""  # type: ignore[index,arg-type]
    return offset if row.isascii() else len(row.encode()[:offset].decode(errors="replace"))


def text_of(module: Module, node: ast.AST) -> str:
    """Return the source of a node, on one line."""
    if getattr(node, "lineno", None) is None:
        return " ".join(ast.unparse(node).split())
    place, rows = place_of(module, node), module.lines.split()
    lines = list(rows[place.line - 1 : place.end_line])
    if not lines:
        return ""
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    return " ".join(" ".join(lines).split())
