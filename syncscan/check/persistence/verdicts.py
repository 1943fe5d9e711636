"""The verdicts of the rules on functions, as data: for another run, or for the process that puts all of it together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from syncscan.check.drained import Drained
from syncscan.check.infer.dataflow.cells import Cell
from syncscan.check.infer.kept.names import Data, Names
from syncscan.check.infer.kept.reading import NotKeptError
from syncscan.check.infer.kept.spots import Spot, Trees
from syncscan.check.infer.solve.deciding import ANYWHERE, ON_HOST
from syncscan.check.infer.solve.public import LazyEvidence, Reasons
from syncscan.check.infer.solve.solver import Explanation, Solver
from syncscan.check.infer.solve.steps import chained
from syncscan.check.match import Matched, Placed
from syncscan.check.persistence.findings import finding_of, plain
from syncscan.model import ON_GPU, Confidence, Device, Evidence, Kind, Value

_PLACES = (ON_GPU, ON_HOST, ANYWHERE)


class FindingWriter:
    """Writes findings; ``cells`` has the numbers of the cells that exist."""

    def __init__(self, names: Names, cells: Mapping[Cell[Any], int]) -> None:
        self.names = names
        self._cells = cells

    def found(self, found: Matched) -> Data:
        """Return the findings in a function as data."""
        ends = found.ends_behind
        return [[*map(self.placed, found.placed)], None if ends is None else sorted(ends)]

    def placed(self, placed: Placed) -> Data:
        """Return a finding as data."""
        before = placed.before
        return [
            plain(placed.finding),
            self._because(placed.because),
            Spot.of(placed.node).data(),
            placed.line,
            before and [Spot.of(before.by).data(), sorted(before.callees)],
            placed.folds,
        ]

    def wait(self, wait: Value) -> Data:
        """Return the data of the value that a property blocks on."""
        return [int(wait.confidence), wait.evidence and _steps(wait.evidence)]

    def _because(self, because: Evidence | None) -> Data:
        if not isinstance(because, LazyEvidence):
            return because and _steps(because)
        explanation, reasons = because.explain, because.reasons
        assert isinstance(explanation, Explanation)
        number = self.names.number
        rests_on = [self._cells.get(each) for each in reasons.rests_on if isinstance(each, Cell)]
        if None in rests_on:
            raise NotKeptError("evidence of a cell that is empty")
        others = [self.names.data(each) for each in reasons.rests_on if not isinstance(each, Cell)]
        return [
            number(explanation.state.function),
            explanation.slot,
            _PLACES.index(explanation.places),
            reasons.found and _steps(reasons.found),
            [[each.path, each.line, each.text] for each in reasons.passed_too],
            rests_on,
            others,
        ]


class FindingReader:
    """Makes findings of data, for a solver."""

    def __init__(self, solver: Solver, names: Names, cell: Callable[[int], Cell[Any]], trees: Trees) -> None:
        """Read findings; ``cell`` has the cells by number, ``trees`` the trees of files with nodes at hand."""
        self._solver = solver
        self._names = names
        self._cell = cell
        self._trees = trees

    def found(self, data: Data) -> Matched:
        """Return the findings in a function of data."""
        placed, ends = data
        return Matched([*map(self.placed, placed)], None if ends is None else frozenset(ends))

    def placed(self, data: Data) -> Placed:
        """Return the finding of data."""
        what, because, spot, line, before, folds = data
        finding, node = finding_of(what), self._trees.node
        earlier = before and Drained(node(finding.path, before[0]), frozenset(before[1]))
        return Placed(finding, self._because(because), node(finding.path, spot), line, earlier, folds)

    def wait(self, data: Data) -> Value:
        """Return the value that a property blocks on."""
        confidence, steps = data
        return Value(Kind.TENSOR, Device.CUDA, Confidence(confidence), evidence=chained(steps))

    def _because(self, data: Data) -> Evidence | None:
        if data is None or isinstance(data[0], list):
            return data and chained(data)
        function, slot, places, steps, passed_too, cells, others = data
        rests_on = frozenset([*map(self._cell, cells), *map(self._names.thing, others)])
        too = tuple(Evidence(path, line, text) for path, line, text in passed_too)
        reasons = Reasons(steps and chained(steps), too, rests_on, self._solver.revision)
        state = self._solver.states[self._names.functions[function]]
        return LazyEvidence(Explanation(self._solver, state, slot, _PLACES[places]), reasons)


def _steps(evidence: Evidence) -> Data:
    return [[step.path, step.line, step.text] for step in evidence.chain()]
