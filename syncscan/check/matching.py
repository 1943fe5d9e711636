"""The last stage of a check: run the rules on every function that contains a blocking call."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from syncscan.check.allowed import only_in_allowed_regions, run_by
from syncscan.check.compiled import compiled_by_decorator, compiled_only
from syncscan.check.defects import failure_of
from syncscan.check.drained import Endings
from syncscan.check.hidden import Direct, waiting_properties
from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.kept.knowledge import names_of, numbers_of
from syncscan.check.infer.kept.names import Data, Names, text_of
from syncscan.check.infer.kept.reading import NotKeptError
from syncscan.check.infer.kept.spots import Trees
from syncscan.check.infer.solve.incremental import Revision
from syncscan.check.infer.solve.record import Waits
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.hardware import is_for_other_hardware, runs_on_other_hardware
from syncscan.check.infer.source.index import Function
from syncscan.check.match import Matched, Matcher
from syncscan.check.persistence.verdicts import FindingReader, FindingWriter
from syncscan.model import Evidence, Failure, Finding, Value
from syncscan.rule import Rule
from syncscan.system.workers import shared

# Below this many functions, starting a process takes longer than it saves.
_WORTH_SHARING = 300


class Matching:
    """A cache of the findings of each function, invalidated when the inference revises the function."""

    def __init__(self, solver: Solver, rules: Sequence[Rule]) -> None:
        self._solver = solver
        self._matcher = Matcher(rules, solver.defects)
        self._direct: Direct = {}
        self._waits: Waits = {}
        self._kept: dict[Function, Matched] = {}
        self._of_others: dict[Function, Matched] = {}  # findings of other processes
        self._never: set[Function] | None = (
            None  # functions not to report on, by their callers; None: not computed yet
        )
        self._starts: frozenset[Function] = frozenset()  # see `compiled_by_decorator`
        self._compiled: set[Function] | None = None  # see `compiled_only`

    def forget(self, revision: Revision) -> None:
        """Invalidate the findings of the functions that a revision of the inference affects."""
        self._of_others.clear()
        if revision.calls_differ:
            self._never = self._compiled = None
        for function in revision.functions:
            self._direct.pop(function, None)
            self._kept.pop(function, None)

    def functions(self, targets: Container[str] | None) -> list[Function]:
        """Return the functions in ``targets`` (None: in all files) that may block.

        Three sorts of functions are left out: those for other hardware, those called only in allowed regions,
        and private ones that only code for other hardware calls.
        """
        known = self._solver.known
        self._look_for_waits()
        waiting = {callee for prop in self._waits for callee in (prop, *prop.virtuals())}
        if self._never is None:
            here = {caller: called for caller, called in known.callees.items() if not _is_elsewhere(caller)}
            self._never = self._only_called_elsewhere() | only_in_allowed_regions(here)
        starts = compiled_by_decorator(self._solver.functions())
        if self._compiled is None or starts != self._starts:
            self._starts, self._compiled = starts, compiled_only(starts, known.callees)
        return [
            function
            for function in self._solver.functions()
            if (targets is None or function.module.path in targets)
            and (function in known.may_block or not waiting.isdisjoint(known.callees.get(function, {})))
            and not _is_elsewhere(function)
            and function not in self._never
        ]

    def _only_called_elsewhere(self) -> set[Function]:
        """Return the private functions whose only callers are code for other hardware."""
        known = self._solver.known
        called = {callee for callees in known.callees.values() for callee in callees}
        elsewhere = {callee for callees in known.elsewhere.values() for callee in callees}
        return {f for f in elsewhere if f.name.startswith("_") and called.isdisjoint((f, *f.virtuals()))}

    def _look_for_waits(self) -> None:
        before, self._waits = self._waits, waiting_properties(self._solver, self._matcher, self._direct)
        differ = {
            each
            for each in {**before, **self._waits}
            if not _is_same(before.get(each), self._waits.get(each))
        }
        for kept in (self._kept, self._of_others) if differ else ():
            read = {callee for each in differ for callee in (each, *each.virtuals())}
            callees = self._solver.known.callees
            for function in [f for f in kept if not read.isdisjoint(callees.get(f, {}))]:
                del kept[function]

    def match(
        self, functions: Sequence[Function], progress: Callable[[str, int, int], None], processes: int
    ) -> None:
        """Run the rules on the functions that are not in the cache, in a number of processes."""
        left = [each for each in functions if each not in self._kept and each not in self._of_others]
        count = processes if len(left) >= _WORTH_SHARING else 1
        names = names_of(self._solver) if count > 1 else Names([])
        cells = numbers_of(self._solver.known) if count > 1 else {}
        writer = FindingWriter(names, cells)
        told = shared(lambda share, count: self._share(left, progress, writer, share, count), count)
        if count > 1:
            self._take([each for each in told[1:] if each is not None], names, [*cells])

    def _share(
        self,
        functions: Sequence[Function],
        progress: Callable[[str, int, int], None],
        writer: FindingWriter,
        share: int,
        count: int,
    ) -> str | None:
        """Run the rules on one share of the functions; return the findings as data for the parent process.

        The parent process works on share 0 and needs no data, so this returns None for share 0. None also
        means that the data cannot be serialised, and that the parent must match this share itself.
        """
        mine = functions[share::count]
        for done, function in enumerate(mine):
            if share == 0:
                progress("match", done, len(mine))
            self._found(function)
        if share == 0:
            return None
        try:
            return text_of(self._found_in(mine, writer))
        except NotKeptError:  # the parent process matches this share itself
            return None

    def _take(self, parts: Sequence[str], names: Names, cells: Sequence[Cell[Any]]) -> None:
        """Read the findings of other processes.

        They refer to no nodes of this process, so an edit cannot shift them.
        """
        reader = FindingReader(self._solver, names, cells.__getitem__, Trees({}))
        for number, found in chain.from_iterable(map(json.loads, parts)):
            self._of_others[names.functions[number]] = reader.found(found)

    def findings(self, functions: Sequence[Function]) -> Iterator[tuple[Function, Finding]]:
        """Yield the findings in functions with current line numbers, each with its function."""
        compiled = self._compiled or ()
        endings = Endings(self._solver.known.run_by, self._ends_behind)
        for function in functions:
            is_compiled = function in compiled
            for placed in self._found(function).placed:
                if not (is_compiled and placed.folds):
                    before = placed.before
                    follows = before is not None and endings.are_drained(function, before.callees)
                    yield function, placed.finding_now(follows=follows)

    def _ends_behind(self, function: Function) -> frozenset[str] | None:
        """See `Matched.ends_behind`; a function that neither blocks nor calls one that does has no end to wait for."""
        known = self._solver.known
        called = (each for callee in known.run_by(function) for each in run_by(callee))
        if known.may_block.isdisjoint((function, *called)):
            return None
        return self._found(function).ends_behind

    def _found(self, function: Function) -> Matched:
        if function in self._of_others:
            return self._of_others[function]
        if function not in self._kept:
            statements = self._solver.statements(function, self._waits)
            self._kept[function] = self._matcher.findings_in(statements, function)
        return self._kept[function]

    def failed(self) -> list[Failure]:
        """Return a failure for each function that the inference or a rule could not process."""
        return [failure_of(function, error) for function, error in self._solver.defects.items()]

    # Persistence

    def written(self, writer: FindingWriter) -> Data:
        """Return the cached findings of each function as data for persistence."""
        number = writer.names.number
        return {
            "found": self._found_in([*self._kept, *self._of_others], writer),
            "direct": [[number(f), each and writer.placed(each)] for f, each in self._direct.items()],
            "waits": [[number(f), writer.wait(wait)] for f, wait in self._waits.items()],
            "never": None if self._never is None else sorted(map(number, self._never)),
        }

    def recall(self, data: Data, functions: Mapping[int, Function], reader: FindingReader) -> None:
        """Restore the cache from the data that `written` returned in another run."""
        self._kept = {functions[f]: reader.found(found) for f, found in data["found"]}
        self._direct = {functions[f]: each and reader.placed(each) for f, each in data["direct"]}
        self._waits = {functions[f]: reader.wait(wait) for f, wait in data["waits"]}
        self._never = None if data["never"] is None else {functions[f] for f in data["never"]}

    def _found_in(self, functions: Sequence[Function], writer: FindingWriter) -> Data:
        """Return the findings of functions as data.

        A function in which a rule failed is left out, so that the reading process meets and records the
        failure itself.
        """
        return [
            [writer.names.number(function), writer.found(self._found(function))]
            for function in functions
            if function not in self._solver.defects
        ]


def _is_elsewhere(function: Function) -> bool:
    return is_for_other_hardware(function.module.name) or runs_on_other_hardware(function)


def _is_same(wait: Value | None, other: Value | None) -> bool:
    """Return whether two properties block on the same value, with the same evidence."""
    if wait is None or other is None:
        return wait is other
    return wait == other and _chain(wait) == _chain(other)


def _chain(value: Value) -> tuple[Evidence, ...]:
    return value.evidence.chain() if value.evidence is not None else ()
