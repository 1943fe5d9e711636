"""The fixed point over the whole project: functions are evaluated until nothing more is known by it.

The evaluation is not monotone everywhere: a default counts only while nobody is seen to pass an argument, an
annotation only while nothing is known of a value, and a narrowed value may be smaller than it was. So what is known
in the end, and the evidence for it, depends on the order of evaluation. That order is part of what an
inference is: the functions of the modules in the order of their paths, each module from its top to its end, then the
readers of what has changed, in the order in which they first read it. Nothing in it depends on the order in which
files are given, on hashes, on addresses, or on time, so the result is a function of the source alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

import syncscan.check.infer.evaluators  # noqa: F401 (which register themselves)
from syncscan.check.infer.evaluate.context import Context
from syncscan.check.infer.evaluate.frame import Frame
from syncscan.check.infer.evaluate.outcome import Outcome
from syncscan.check.infer.evaluate.record import Candidate, Recorder, Waits
from syncscan.check.infer.evaluate.running import evaluate
from syncscan.check.infer.source.index import Function, Module
from syncscan.facts import Facts
from syncscan.model import Conventions
from syncscan.ops import OperationTable

# A function is looked at again when something that it reads changes; real projects settle within a few
# rounds, and this bound keeps a pathological one from running on.
_MOST_EVALUATIONS = 24

Progress = Callable[[str, int, int], None]


class Solver:
    """What is known of a project, refined function by function.

    First everything is followed that the source shows. Then what is still open is filled in by assumption:
    tensors that nobody is seen to pass, devices that only the run decides.

    ``asked`` has the full names of functions whose calls are to be candidates whatever the table says; ``facts`` has what
    was seen while the project ran.
    """

    def __init__(
        self,
        modules: Sequence[Module],
        table: OperationTable,
        conventions: Conventions,
        asked: frozenset[str] = frozenset(),
        facts: Facts | None = None,
    ) -> None:
        self.context = Context(modules, table, conventions, asked, facts)
        self.known = self.context.known
        self.defects: dict[Function, Exception] = {}
        self._queue: deque[Function] = deque()
        self._queued: set[Function] = set()
        self._evaluations: dict[Function, int] = {}

    def functions(self) -> list[Function]:
        """Every function of the project, and the lambdas that were met."""
        return self.context.functions()

    def solve(self, progress: Progress) -> None:
        """Reach the fixed point."""
        self._settle("infer", self.functions(), progress)
        self.context.assume = True
        still_open = [function for function in self.functions() if function in self.known.open]
        self._settle("assume", still_open, progress)

    def candidates(self, function: Function, waits: Waits | None = None) -> list[Candidate]:
        """The statements of a function in which a GPU value reaches a place that may block.

        With ``waits``, those that read one of the properties in it count as well.
        """
        recorder = Recorder(waits or {})
        if function not in self.defects:
            self._evaluate(function, recorder)
        return recorder.candidates()

    def _settle(self, stage: str, functions: Iterable[Function], progress: Progress) -> None:
        """Evaluate functions, and again whatever rests on what that tells, until nothing changes."""
        self._evaluations.clear()
        for function in functions:
            self._enqueue(function)
        total = sum(len(module.functions) for module in self.context.modules)
        while self._queue:
            progress(stage, len(self._evaluations), total)
            function = self._queue.popleft()
            self._queued.discard(function)
            count = self._evaluations.get(function, 0)
            if count < _MOST_EVALUATIONS and function not in self.defects:
                self._evaluations[function] = count + 1
                self._commit(function, self._evaluate(function))

    def _evaluate(self, function: Function, recorder: Recorder | None = None) -> Outcome:
        """Evaluate one function; one that makes us fail is noted, and has told what it told until then."""
        frame = Frame(self.context, function, recorder)
        try:
            evaluate(frame)
        except Exception as error:
            self.defects[function] = error
        return frame.outcome

    def _commit(self, function: Function, outcome: Outcome) -> None:
        """Let the project know what an evaluation tells, and look again at whatever rests on that."""
        known = self.known
        for cell in outcome.reads:
            cell.readers[function] = None
        known.callees.setdefault(function, {}).update(outcome.callees)
        known.elsewhere.update(outcome.elsewhere)
        if outcome.is_open:
            known.open.add(function)
        if outcome.may_block:
            known.may_block.add(function)
        for cell, fact in outcome.contributions.items():
            if cell.contribute(function, fact):
                for reader in cell.readers:
                    self._enqueue(reader)
        for met in outcome.lambdas:
            if met not in self._evaluations:
                self._enqueue(met)

    def _enqueue(self, function: Function) -> None:
        if function not in self._queued:
            self._queued.add(function)
            self._queue.append(function)
