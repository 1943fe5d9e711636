"""Sources to findings: index, infer, match. Knows no file system and no terminal."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

from syncscan.check.defects import defect, failure_of
from syncscan.check.files import Source
from syncscan.check.hidden import waiting_properties
from syncscan.check.infer.solver import Solver
from syncscan.check.infer.source.hardware import is_for_other_hardware, runs_on_other_hardware
from syncscan.check.infer.source.index import Function, Module
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.match import Matcher
from syncscan.check.meant import meant
from syncscan.check.nesting import deep_recursion, parse
from syncscan.check.newer import newer_syntax
from syncscan.check.when import Times, times
from syncscan.check.workers import shared, workers
from syncscan.facts import Facts
from syncscan.memory import steady_memory
from syncscan.model import Conventions, Failure, Finding
from syncscan.ops import OperationTable, load_table
from syncscan.rule import Rule, by_precedence

# Below this many functions, starting a process takes longer than it saves.
_WORTH_SHARING = 300


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


def check_sources(
    sources: Sequence[Source],
    targets: Container[str] | None,
    conventions: Conventions,
    progress: Callable[[str, int, int], None],
    jobs: int = 1,
    hot: Sequence[str] = (),
    table: OperationTable | None = None,
    facts: Facts | None = None,
) -> CheckResult:
    """Check a whole project, and report on the files named in ``targets`` (as shown), or on all.

    ``hot`` names the entry points of a step, see `syncscan.check.when`; ``jobs`` is how many processes to
    use, 0 for as many as help; ``table`` is the operation table, where the project
    has operations of its own; ``facts`` has what was seen while it ran. ``progress`` is called with the name of a stage, how much of it is done,
    and of how much.
    """
    result = CheckResult()
    with steady_memory(), deep_recursion():
        in_order = sorted(sources, key=lambda source: source.shown)  # of which the result is a function
        modules = list(_modules(in_order, targets, result.failed, progress))
        rules = by_precedence()
        asked = frozenset(name for rule in rules for name in rule.asks)
        solver = Solver(modules, table or load_table(), conventions, asked, facts)
        solver.solve(progress)
        matching = _Matching(solver, rules, times(solver, hot), targets, progress)
        count = workers(jobs) if len(matching.functions) >= _WORTH_SHARING else 1
        for part in shared(matching.share, count):
            result.findings += part.findings
            result.failed += [failure for failure in part.failed if failure not in result.failed]
        observations = solver.context.observations
        result.facts = FactsUsed(observations.used, observations.stale)
    result.findings.sort(key=lambda finding: finding.position)
    return result


def _modules(
    sources: Sequence[Source],
    targets: Container[str] | None,
    failed: list[Failure],
    progress: Callable[[str, int, int], None],
) -> Iterator[Module]:
    for done, source in enumerate(sources):
        progress("read", done, len(sources))
        module = _module(source, reported=targets is None or source.shown in targets)
        if isinstance(module, Failure):
            failed.append(module)
        else:
            yield module


def _module(source: Source, *, reported: bool) -> Module | Failure:
    """Parse and index a file, or say why that fails."""
    try:
        tree = parse(source.text)
    except (SyntaxError, ValueError) as error:
        return _unparsed(source, error, reported=reported)
    except RecursionError:
        return Failure(source.shown, 0, "nested too deeply to be analysed")
    is_package = source.path.stem == "__init__"
    try:
        return index_module(source.module, source.shown, tree, source.text.split("\n"), is_package=is_package)
    except RecursionError:
        return Failure(source.shown, 0, "nested too deeply to be analysed")
    except Exception as error:
        return Failure(source.shown, 0, defect(error))


def _unparsed(source: Source, error: SyntaxError | ValueError, *, reported: bool) -> Failure:
    line = getattr(error, "lineno", 0) or 0
    newer = newer_syntax(source.text) if reported else None  # which takes longer than all the rest of a file
    if newer is None:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return Failure(source.shown, line, f"syntax error: {message}")
    python, syntax = newer
    return Failure(
        source.shown,
        line,
        f"not checked: it uses syntax of Python {python} ({syntax}); run syncscan with {python} or later, "
        "or leave it out with `exclude`",
        python=python,
    )


class _Matching:
    """The last stage: the rules, asked about every function in which something may block."""

    def __init__(
        self,
        solver: Solver,
        rules: Sequence[Rule],
        when: Times,
        targets: Container[str] | None,
        progress: Callable[[str, int, int], None],
    ) -> None:
        self._solver = solver
        self._when = when
        self._progress = progress
        self._matcher = Matcher(rules, solver.defects)
        self._waits = waiting_properties(solver, self._matcher)
        self._waiting = {callee for prop in self._waits for callee in (prop, *prop.virtuals())}
        known = solver.known
        called = {callee for callees in known.callees.values() for callee in callees}
        left_out = {
            f for f in known.elsewhere if f.name.startswith("_") and called.isdisjoint((f, *f.virtuals()))
        }
        left_out |= meant(known.callees)
        self.functions = [f for f in solver.functions() if self._is_asked(f, targets) and f not in left_out]

    def _is_asked(self, function: Function, targets: Container[str] | None) -> bool:
        """Whether a function is reported on, and something in it may block."""
        module, known = function.module, self._solver.known
        if targets is not None and module.path not in targets:
            return False
        if is_for_other_hardware(module.name) or runs_on_other_hardware(function):
            return False
        return function in known.may_block or not self._waiting.isdisjoint(known.callees.get(function, {}))

    def share(self, share: int, count: int) -> CheckResult:
        """The findings in one share of the functions, and the functions that could not be matched."""
        result = CheckResult()
        functions = self.functions[share::count]
        for done, function in enumerate(functions):
            if share == 0:
                self._progress("match", done, len(functions))
            for finding in self._matcher.findings_in(
                self._solver.candidates(function, self._waits), function
            ):
                when, chain = self._when.at(function, finding.line)
                result.findings.append(replace(finding, when=when, call_chain=chain))
        result.failed = [failure_of(function, error) for function, error in self._solver.defects.items()]
        return result
