"""The fixed point over the whole project: functions are evaluated until nothing more is known by it.

The evaluation is not monotone everywhere: a default counts only while nobody is seen to pass an argument, an
annotation only while nothing is known of a value, and a narrowed value may be smaller than it was. So what is known
in the end, and the evidence for it, depends on the order of evaluation. That order is part of what an
inference is: that of the functions of the modules in the order of their paths, each module from its top to its end,
in rounds (`known.timeline`). Nothing in it depends on the order in which files are given, on hashes, on addresses, on
time, or on what was known before a change, so the result is a function of the source alone.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import syncscan.check.infer.evaluators  # noqa: F401 (which register themselves)
from syncscan.check.infer.evaluate.context import Context
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.record import Recorder, Statements, Waits
from syncscan.check.infer.evaluate.running import evaluate
from syncscan.check.infer.known.recall import NotKeptError
from syncscan.check.infer.known.timeline import ASSUMING, Timeline
from syncscan.check.infer.source.edits import ModuleEdit, NotFollowedError
from syncscan.check.infer.source.index import Function, Module, Virtual
from syncscan.check.infer.source.restructure import Consequences
from syncscan.facts import FactSet
from syncscan.model import Conventions
from syncscan.ops import OperationTable

_LAMBDAS = 20  # bits of the order of functions, for the lambdas of each
_FEW = 3000  # evaluations, which any change may take,
_PART = 4  # and as many as this part of the functions
_LAMBDA = (1 << _LAMBDAS) - 1

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Revision:
    """The functions of which something else may be known, and whether any may run something else, or in another way."""

    functions: set[Function]
    calls_differ: bool


class Solver:
    """What is known of a project, refined function by function.

    First everything is followed that the source shows. Then what is still open is filled in by assumption:
    tensors that nobody is seen to pass, devices that only the run decides.

    ``asked`` has the full names of functions whose calls are to be candidates whatever the table says; ``facts`` has what
    was seen while the project ran.
    """

    def __init__(
        self,
        modules: list[Module],
        table: OperationTable,
        conventions: Conventions,
        asked: frozenset[str] = frozenset(),
        facts: FactSet | None = None,
    ) -> None:
        self.context = Context(modules, table, conventions, asked, facts)
        self.known = self.context.known
        self.defects: dict[Function, Exception] = {}
        self.timeline = Timeline(self.known)
        for number, function in enumerate(self.context.functions(), 1):
            function.order = number << _LAMBDAS

    def functions(self) -> list[Function]:
        """Every function of the project, and the lambdas that were met, in order."""
        return sorted(self.context.functions(), key=_order)

    def solve(self, progress: Progress) -> None:
        """Reach the fixed point."""
        functions = self.functions()
        self.timeline.begin(functions)
        self._run(len(functions), progress)
        self.timeline.end()

    def revise(self, edits: Sequence[ModuleEdit], progress: Progress) -> Revision:
        """Reach the fixed point of what modules are now.

        NotFollowedError where that cannot be told from what was known; nothing of it is of use any more then.
        """
        before = self.context.functions()
        found = self.context.restructure(edits)
        gone = [function for edit in edits for function in edit.gone]
        if gone or any(edit.new for edit in edits):
            self._number(before, gone)
        had_read = self.context.forget(edits)
        changed = {function for edit in edits for function in edit.functions}
        changed |= {*found.again, *had_read, *self._callers(found), *self._askers(found)}
        changed.intersection_update(self.context.functions())
        self.timeline.begin_again(changed, gone)
        self._run(len(changed), progress, max(_FEW, len(self.context.functions()) // _PART))
        ended = self.timeline.end()
        differ = ended.ran.union(gone, *(cell.readers for cell in ended.cells))
        for function in differ:
            if not self.timeline.fails(function):
                self.defects.pop(function, None)
        return Revision(differ, ended.calls_differ or any(edit.redefines for edit in edits))

    def _callers(self, found: Consequences) -> Iterator[Function]:
        """Those that call functions which may have to be called in another way."""
        for caller, callees in self.known.callees.items() if found.heads else ():
            for callee in callees:
                called = callee.below if isinstance(callee, Virtual) else (callee,)
                if any(each in found.heads for each in called):
                    yield caller
                    break

    def _askers(self, found: Consequences) -> Iterator[Function]:
        """Those that have asked what has another answer."""
        if found.questions or found.files:
            for question, askers in self.known.all_asked().items():
                if found.concern(question):
                    yield from askers

    def _number(self, before: Iterable[Function], gone: Iterable[Function]) -> None:
        """Number the functions as they stand now, so that those that were there stay in their order."""
        left = deque(sorted(gone, key=_order))
        defined = [function for module in self.context.modules for function in module.functions]
        in_order: list[Function] = []
        for function in defined:
            while left and function.order and left[0].order < function.order:
                in_order.append(left.popleft())
            in_order.append(function)
        in_order += left
        numbers = {each.order >> _LAMBDAS: n for n, each in enumerate(in_order, 1) if each.order}
        lambdas = [(each, numbers[each.order >> _LAMBDAS]) for each in before if each.is_lambda]
        for function, number in [*((each, n) for n, each in enumerate(in_order, 1)), *lambdas]:
            function.order = number << _LAMBDAS | function.order & _LAMBDA

    def statements(self, function: Function, waits: Waits | None = None) -> Statements:
        """The statements of a function, and of each whether a GPU value reaches a place in it that may block.

        With ``waits``, those that read one of the properties in it count as well.
        """
        recorder = Recorder(waits or {})
        if function not in self.defects:
            self._evaluate(Frame(self.context, function, recorder))
        return recorder.statements

    def _run(self, total: int, progress: Progress, most: float = math.inf) -> None:
        """Evaluate functions, and again whatever rests on what that tells, until nothing changes.

        NotFollowedError where that takes more than ``most`` evaluations: to begin anew is faster then.
        """
        evaluations = 0
        seen: dict[str, set[Function]] = {"infer": set(), "assume": set()}
        while (due := self.timeline.next()) is not None:
            function, turn = due
            self.context.assume = turn >= ASSUMING
            stage = "assume" if self.context.assume else "infer"
            progress(stage, len(seen[stage]), total)
            seen[stage].add(function)
            evaluations += 1
            if evaluations > most:
                raise NotFollowedError
            frame = Frame(self.context, function, now=self.timeline.now(function, turn))
            self._evaluate(frame)
            self.timeline.commit(function, frame.outcome.in_turn(turn), frame.outcome.contributions)
        self.context.assume = True

    def _evaluate(self, frame: Frame) -> None:
        """Evaluate one function; one that makes us fail is noted, and has told what it told until then."""
        try:
            evaluate(frame)
        except NotKeptError:  # of another run, and no fault of the function
            raise
        except Exception as error:
            self.defects[frame.function] = frame.outcome.error = error


def _order(function: Function) -> int:
    return function.order
