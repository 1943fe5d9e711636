"""The last stage: the rules, asked about every function in which something may block."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from syncscan.check.defects import failure_of
from syncscan.check.hidden import Direct, waiting_properties
from syncscan.check.infer.evaluate.record import Waits
from syncscan.check.infer.solver import Solver
from syncscan.check.infer.source.hardware import is_for_other_hardware, runs_on_other_hardware
from syncscan.check.infer.source.index import Function
from syncscan.check.infer.values.identity import identical
from syncscan.check.match import Matcher, Placed
from syncscan.check.meant import meant
from syncscan.check.when import Times
from syncscan.model import Failure, Finding
from syncscan.rule import Rule


@dataclass(frozen=True, slots=True)
class FactsUsed:
    """Of how many functions what was seen of them is used, and of how many not, for they have changed since."""

    fitting: int = 0
    stale: int = 0


@dataclass(slots=True)
class CheckResult:
    """What was found, and which files could not be analysed."""

    findings: list[Finding] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    facts: FactsUsed = field(default_factory=FactsUsed)


class Matching:
    """What the rules said of each function, as long as that holds."""

    def __init__(self, solver: Solver, rules: Sequence[Rule]) -> None:
        self._solver = solver
        self._matcher = Matcher(rules, solver.defects)
        self._direct: Direct = {}
        self._waits: Waits = {}
        self._kept: dict[Function, list[Placed]] = {}

    def forget(self, functions: Iterable[Function]) -> None:
        """Functions of which the rules may say something else now."""
        for function in functions:
            self._direct.pop(function, None)
            self._kept.pop(function, None)

    def functions(self, targets: Container[str] | None) -> list[Function]:
        """The functions to report on in which something may block."""
        known = self._solver.known
        self._look_for_waits()
        waiting = {callee for prop in self._waits for callee in (prop, *prop.virtuals())}
        left_out = self._only_called_elsewhere() | meant(known.callees)
        return [
            function
            for function in self._solver.functions()
            if (targets is None or function.module.path in targets)
            and (function in known.may_block or not waiting.isdisjoint(known.callees.get(function, {})))
            and not is_for_other_hardware(function.module.name)
            and not runs_on_other_hardware(function)
            and function not in left_out
        ]

    def _only_called_elsewhere(self) -> set[Function]:
        """The private functions that nothing calls but code for other hardware."""
        known = self._solver.known
        called = {callee for callees in known.callees.values() for callee in callees}
        elsewhere = {callee for callees in known.elsewhere.values() for callee in callees}
        return {f for f in elsewhere if f.name.startswith("_") and called.isdisjoint((f, *f.virtuals()))}

    def _look_for_waits(self) -> None:
        before, self._waits = self._waits, waiting_properties(self._solver, self._matcher, self._direct)
        differ = {
            each
            for each in {**before, **self._waits}
            if not identical(before.get(each), self._waits.get(each))
        }
        if differ and self._kept:
            read = {callee for each in differ for callee in (each, *each.virtuals())}
            callees = self._solver.known.callees
            for function in [f for f in self._kept if not read.isdisjoint(callees.get(f, {}))]:
                del self._kept[function]

    def share(
        self,
        functions: Sequence[Function],
        when: Times,
        progress: Callable[[str, int, int], None],
        share: int,
        count: int,
    ) -> CheckResult:
        """The findings in one share of the functions, and the functions that could not be matched."""
        result = CheckResult()
        mine = functions[share::count]
        for done, function in enumerate(mine):
            if share == 0:
                progress("match", done, len(mine))
            for finding in self._findings(function):
                runs, chain = when.at(function, finding.line)
                result.findings.append(replace(finding, when=runs, call_chain=chain))
        result.failed = [failure_of(function, error) for function, error in self._solver.defects.items()]
        return result

    def _findings(self, function: Function) -> Iterator[Finding]:
        if function not in self._kept:
            candidates = self._solver.candidates(function, self._waits)
            self._kept[function] = self._matcher.findings_in(candidates, function)
        return (placed.finding_now() for placed in self._kept[function])
