"""The lines and calls that ran in a trace, by which a proof skips code that never ran, and learns callees."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from syncscan.check.files import Source
from syncscan.check.infer.source.index import Class, Function, Module
from syncscan.syntax.source_text import first_line

# Statements whose line Python may leave out of its line events.
_SILENT = (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)


CLOSED = "*"  # in the place of a name or a file: the recording ended there
Code = tuple[str, int]  # a file and the first line of the code that runs


@dataclass(frozen=True, slots=True)
class RunSeen:
    """The record of a run, by file as the check shows it: lines that ran, lines that synchronized, and calls.

    - ``callees`` has the names that a call had, by its last line and column.
    - ``calls`` has what each piece of code ran: under the file "" what nothing else ran, such as a thread.
    - ``callers`` has the code that ran each piece of code, with the line of the call.
    - Under the file `CLOSED`, ``calls`` has the code that ran too often for a whole record.
    """

    ran: Mapping[str, set[int]] = field(default_factory=dict)
    synchronized: Mapping[str, set[int]] = field(default_factory=dict)
    callees: Mapping[str, Mapping[tuple[int, int], set[str]]] = field(default_factory=dict)
    calls: Mapping[Code, set[Code]] = field(default_factory=dict)
    callers: Mapping[Code, set[tuple[Code, int]]] = field(default_factory=dict)

    def data(self) -> list[Any]:
        """Return the record as data, the same for equal records."""
        return [
            sorted([path, *sorted(lines)] for path, lines in self.ran.items()),
            sorted([path, *sorted(lines)] for path, lines in self.synchronized.items()),
            sorted(
                [path, sorted([*end, *sorted(names)] for end, names in calls.items())]
                for path, calls in self.callees.items()
            ),
            sorted([code, sorted(called)] for code, called in self.calls.items()),
            sorted([code, sorted(callers)] for code, callers in self.callers.items()),
        ]


def loaded(sources: Iterable[Source], run: RunSeen, entry_point: str) -> list[Source]:
    """Return the files with code that ran, the packages around these files, and the file of the entry point."""
    found = list(sources)
    ran = [source.module for source in found if source.shown in run.ran]
    names = {name for module in (*ran, entry_point.partition(":")[0]) for name in _with_packages(module)}
    return [source for source in found if source.module in names]


def _with_packages(module: str) -> Iterator[str]:
    """Yield the names of a module and of the packages around the module."""
    while module:
        yield module
        module = module.rpartition(".")[0]


class Ran:
    """The lines and calls that ran; all of them without a trace."""

    def __init__(self, run: RunSeen | None = None) -> None:
        self._lines = run.ran if run is not None else None
        self._callees = run.callees if run is not None else {}
        self._calls = run.calls if run is not None else {}
        self._callers = run.callers if run is not None else {}
        self._bodies: dict[Function, bool] = {}
        self._anyhow = self._calls.get(("", 0), set()) | self._calls.get((CLOSED, 0), set())

    @property
    def knows_lines(self) -> bool:
        """Return whether a trace recorded lines."""
        return self._lines is not None

    def read(self, module: Module) -> bool:
        """Return whether a trace recorded the top of a module, which runs when the program imports the module."""
        plain = (each for each in module.tree.body if isinstance(each, (ast.Import, ast.ImportFrom)))
        return self.knows_lines and any(self.statement(module, each) for each in plain)

    def lines_of(self, module: Module) -> list[int]:
        """Return the lines of a module that ran; none without a trace."""
        return sorted((self._lines or {}).get(module.path, ()))

    @property
    def knows_calls(self) -> bool:
        """Return whether a trace recorded calls."""
        return bool(self._calls)

    def called(self, module: Module, node: ast.AST) -> frozenset[str] | None:
        """Return the names that a call had; None where no trace recorded the call."""
        if not self._callees or not isinstance(node, ast.Call):
            return None
        end = (node.end_lineno or 0, node.end_col_offset or 0)
        found = self._callees.get(module.path, {}).get(end, set())
        return None if CLOSED in found else frozenset(found)

    def never_called(self, module: Module, node: ast.AST) -> bool:
        """Return whether a trace recorded calls, and not this one."""
        return self.called(module, node) == frozenset() and not _goes_unrecorded(node)

    def may_evaluate(self, module: Module, node: ast.expr) -> bool:
        """Return whether an expression may have been evaluated; it was not if the trace recorded none of its calls."""
        calls = [*_recorded_calls(node)]
        return not calls or any(self.called(module, each) != frozenset() for each in calls)

    def reached(self, function: Function, known: Mapping[Code, Function]) -> list[Function]:
        """Return the functions that a function ran, directly or through unknown code."""
        queue, seen, found = deque([code_of(function)]), {code_of(function)}, list[Function]()
        while queue:
            for each in sorted(self._calls.get(queue.popleft(), set()) - seen):
                seen.add(each)
                if each in known:
                    found.append(known[each])
                else:
                    queue.append(each)
        return found

    def callers(self, function: Function) -> set[tuple[Code, int]]:
        """Return the code that ran a function, with the line of each call; nothing where the record is not whole."""
        code = code_of(function)
        return set() if code in self._anyhow else self._callers.get(code, set())

    def may_reach(self, function: Function) -> bool:
        """Return whether a function ran without a recorded caller."""
        return not self._calls or code_of(function) in self._anyhow

    def has(self, function: Function, first: int, last: int = 0) -> bool:
        """Return whether any of some lines of a function ran."""
        return self.lines(function.module, first, max(first, last))

    def statement(self, module: Module, node: ast.stmt) -> bool:
        """Return whether a statement may have run; where it did not, what stands behind it did not either."""
        if self._lines is None or _is_silent(node):
            return True
        return self.lines(module, first_line(node), node.end_lineno or node.lineno)

    def body(self, function: Function) -> bool:
        """Return whether the body of a function may have run: where it did not, nothing called it."""
        if self._lines is None:
            return True
        known = self._bodies.get(function)
        if known is None:
            known = self._bodies[function] = self._may_have_run(function)
        return known

    def _may_have_run(self, function: Function) -> bool:
        body = getattr(function.node, "body", None)
        if not isinstance(body, list) or all(map(_is_silent, body)):
            return True
        return any(not _is_silent(node) and self.statement(function.module, node) for node in body)

    def made(self, cls: Class) -> bool:
        """Return whether an object of a class, and of none below it, may have been made."""
        if self._lines is None:
            return True
        makers = [cls.methods[name] for name in ("__new__", "__init__") if name in cls.methods]
        return self.statement(cls.module, cls.node) and all(map(self.body, makers))

    def lines(self, module: Module, first: int, last: int) -> bool:
        """Return whether any of some lines of a module may have run."""
        if self._lines is None:
            return True
        ran = self._lines.get(module.path, ())
        return any(line in ran for line in range(first, last + 1))


# Calls that some versions of Python make without a record: `super()`, and those that take a generator apart.
_UNRECORDED = frozenset({"super", "any", "all", "tuple", "list", "set"})


def _recorded_calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls in an expression that a record would have; none where one of the others stands among them.

    Before Python 3.12, the syntax tree has other columns for calls in texts than the record.
    """
    inside = [*ast.walk(node)]
    calls = [each for each in inside if isinstance(each, ast.Call)]
    if not any(isinstance(each, ast.JoinedStr) for each in inside) and not any(
        _goes_unrecorded(each) for each in calls
    ):
        yield from calls


def _goes_unrecorded(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _UNRECORDED


def code_of(function: Function) -> Code:
    """Return the place of the code of a function."""
    node = function.node
    decorators = [each.lineno for each in getattr(node, "decorator_list", ())]
    return function.module.path, min([getattr(node, "lineno", 1), *decorators])


def _is_silent(node: ast.stmt) -> bool:
    """Return whether a statement may run without a trace: one that jumps, a text, or a declaration."""
    if isinstance(node, _SILENT):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.AnnAssign) and node.value is None
