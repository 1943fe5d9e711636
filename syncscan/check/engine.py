"""Sources to findings: index, infer, match. Knows no file system and no terminal."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from syncscan.check.defects import defect
from syncscan.check.files import Source
from syncscan.check.infer.solver import Solver
from syncscan.check.infer.source.edits import Edit, edit
from syncscan.check.infer.source.index import Module
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.matching import CheckResult, FactsUsed, Matching
from syncscan.check.nesting import deep_recursion, parse
from syncscan.check.newer import newer_syntax
from syncscan.check.when import Regions, times
from syncscan.check.workers import shared, workers
from syncscan.facts import Facts
from syncscan.memory import steady_memory
from syncscan.model import Conventions, Failure
from syncscan.ops import OperationTable, load_table
from syncscan.rule import by_precedence

# Below this many functions, starting a process takes longer than it saves.
_WORTH_SHARING = 300

Progress = Callable[[str, int, int], None]


def check_sources(
    sources: Sequence[Source],
    targets: Container[str] | None,
    conventions: Conventions,
    progress: Progress,
    jobs: int = 1,
    hot: Sequence[str] = (),
    table: OperationTable | None = None,
    facts: Facts | None = None,
) -> CheckResult:
    """Check a whole project once; see `Engine`."""
    return Engine(conventions, hot, table, facts).check(sources, targets, progress, jobs)


class Engine:
    """The check of one project. Asked again, it works out what has changed since, and the rest it knows.

    ``hot`` names the entry points of a step, see `syncscan.check.when`; ``table`` is the operation table, where
    the project has operations of its own; ``facts`` has what was seen while it ran. What it says is a function of the sources that it is asked about, whatever
    it was asked before.
    """

    def __init__(
        self,
        conventions: Conventions,
        hot: Sequence[str] = (),
        table: OperationTable | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._conventions = conventions
        self._hot = hot
        self._table = table
        self._facts = facts
        self._project: _Project | None = None

    @property
    def solver(self) -> Solver | None:
        """What is known of the project that was asked about last."""
        return self._project.solver if self._project is not None else None

    def check(
        self, sources: Sequence[Source], targets: Container[str] | None, progress: Progress, jobs: int = 1
    ) -> CheckResult:
        """Check a project, and report on the files named in ``targets`` (as shown), or on all.

        ``jobs`` is how many processes to use, 0 for as many as help; what is to be known later must be
        worked out in one. ``progress`` is called with the name of a stage, how much of it is done, and of how much.
        """
        in_order = sorted(sources, key=lambda source: source.shown)  # of which the result is a function
        with steady_memory(), deep_recursion():
            project, self._project = self._project, None  # what ends halfway is not kept
            if project is None or not project.follow(in_order, progress):
                project = None  # before the next one takes as much
                project = _Project(in_order, self._conventions, self._table, self._facts, progress)
            result = project.result(targets, self._hot, progress, jobs)
            self._project = project
            return result


class _Project:
    """All that is known of a project as it is."""

    def __init__(
        self,
        sources: Sequence[Source],
        conventions: Conventions,
        table: OperationTable | None,
        facts: Facts | None,
        progress: Progress,
    ) -> None:
        self._facts = facts
        self._sources = {source.shown: source for source in sources}
        self._modules: dict[str, Module] = {}
        for done, source in enumerate(sources):
            progress("read", done, len(sources))
            module = _module(source)
            if isinstance(module, Module):
                self._modules[source.shown] = module
        rules = by_precedence()
        asked = frozenset(name for rule in rules for name in rule.asks)
        self.solver = Solver([*self._modules.values()], table or load_table(), conventions, asked, facts)
        self.solver.solve(progress)
        self._matching = Matching(self.solver, rules)
        self._regions: Regions = {}

    def follow(self, sources: Sequence[Source], progress: Progress) -> bool:
        """Take over what has changed; False if that is more than what functions do, and all is to be read anew."""
        if [_place(source) for source in sources] != [_place(known) for known in self._sources.values()]:
            return False
        changed = [source for source in sources if source.text != self._sources[source.shown].text]
        if changed and self._facts is not None:  # which are about functions as they were
            return False
        self._sources = {source.shown: source for source in sources}
        edits = [self._edit(source) for source in changed]
        whole = [each for each in edits if each is not None]
        if len(whole) < len(edits):
            return False
        if whole:
            self._forget_regions({source.shown for source in changed})
            self._matching.forget(self.solver.revise(whole, progress))
        return True

    def _forget_regions(self, paths: Container[str]) -> None:
        for function in [each for each in self._regions if each.module.path in paths]:
            del self._regions[function]

    def _edit(self, source: Source) -> Edit | None:
        module = self._modules.get(source.shown)
        if module is None:
            return Edit(()) if isinstance(_module(source), Failure) else None
        try:
            return edit(module, parse(source.text), source.text.split("\n"))
        except (SyntaxError, ValueError, RecursionError):
            return None

    def result(
        self, targets: Container[str] | None, hot: Sequence[str], progress: Progress, jobs: int
    ) -> CheckResult:
        """What is found in some files, or in all."""
        result = CheckResult(failed=[*self._failed(targets)])
        when = times(self.solver, hot, self._regions)
        functions = self._matching.functions(targets)
        count = workers(jobs) if len(functions) >= _WORTH_SHARING else 1
        for part in shared(
            lambda share, count: self._matching.share(functions, when, progress, share, count), count
        ):
            result.findings += part.findings
            result.failed += [failure for failure in part.failed if failure not in result.failed]
        observations = self.solver.context.observations
        result.facts = FactsUsed(observations.used, observations.stale)
        result.findings.sort(key=lambda finding: finding.position)
        return result

    def _failed(self, targets: Container[str] | None) -> Iterator[Failure]:
        for shown, source in self._sources.items():
            if shown not in self._modules:
                failure = _module(source, reported=targets is None or shown in targets)
                assert isinstance(failure, Failure)
                yield failure


def _place(source: Source) -> tuple[str, str, str]:
    """What of a source is not its text, and counts."""
    return source.shown, source.module, source.path.stem


def _module(source: Source, *, reported: bool = False) -> Module | Failure:
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
