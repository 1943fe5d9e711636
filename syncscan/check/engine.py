"""The engine of the check, from sources to findings: index, infer, match. Does no I/O."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from syncscan.check.defects import defect
from syncscan.check.files import Source
from syncscan.check.frequency.cached import FrequencyCache
from syncscan.check.frequency.lines import Frequencies
from syncscan.check.frequency.project import frequencies
from syncscan.check.infer.domain.lattice import forget_joins
from syncscan.check.infer.kept.knowledge import NOTHING, KeptKnowledge, KnowledgeReader, KnowledgeWriter
from syncscan.check.infer.kept.lines import KeptLines
from syncscan.check.infer.kept.names import Names, text_of
from syncscan.check.infer.kept.reading import NotKeptError, reading
from syncscan.check.infer.kept.sources import link, module_of
from syncscan.check.infer.kept.spots import Trees
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.edits import ModuleEdit, NotFollowedError, edit
from syncscan.check.infer.source.index import Module
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.trees import tree_of
from syncscan.check.matching import Matching
from syncscan.check.nesting import deep_recursion
from syncscan.check.persistence.state import SavedState, written
from syncscan.check.persistence.verdicts import FindingReader, FindingWriter
from syncscan.check.prove.contracts import keep_contracts
from syncscan.check.result import CheckResult, FactsUsed
from syncscan.facts import FactSet
from syncscan.model import Conventions, Failure, When
from syncscan.ops import OperationTable, load_table
from syncscan.rule import by_precedence
from syncscan.system.memory import steady_memory
from syncscan.system.workers import beside, workers

Progress = Callable[[str, int, int], None]


def check_sources(
    sources: Sequence[Source],
    targets: Container[str] | None,
    conventions: Conventions,
    progress: Progress,
    jobs: int = 1,
    hot: Sequence[str] = (),
    table: OperationTable | None = None,
    facts: FactSet | None = None,
    sync_free: Sequence[str] = (),
) -> CheckResult:
    """Check a whole project once; see `Engine` for the parameters."""
    engine = Engine(conventions, hot, table, facts, sync_free=sync_free)
    return engine.check(sources, targets, progress, jobs)


class Engine:
    """An incremental check of one project: a later call of `check` analyses only what has changed since.

    - ``hot`` names the entry points of one step; see `syncscan.check.frequency.project`.
    - ``table`` is the operation table of a project that declares operations of its own.
    - ``facts`` are runtime facts from ``syncscan facts record``.
    - ``state`` is the state of an earlier engine with the same settings, see `state`.
    - ``keeps_python`` analyses a file with a syntax error as it was when it last parsed.
    - ``sync_free`` names the functions that must be free of synchronization.

    The findings depend on the given sources alone, and not on earlier calls. ``keeps_python`` is the only
    exception.
    """

    def __init__(
        self,
        conventions: Conventions,
        hot: Sequence[str] = (),
        table: OperationTable | None = None,
        facts: FactSet | None = None,
        state: bytes | None = None,
        *,
        keeps_python: bool = False,
        sync_free: Sequence[str] = (),
    ) -> None:
        self._sync_free = sync_free
        self._conventions = conventions
        self._hot = hot
        self._table = table
        self._facts = facts
        self._state = state
        self._keeps_python = keeps_python
        self._project: _Project | None = None
        self._restored: _Project | None = None  # valid for one check, and then for `state` alone
        self._solver: Solver | None = None

    @property
    def solver(self) -> Solver | None:
        """The solver of the last project checked, with all inferred values; None before the first check."""
        return self._solver

    def check(
        self, sources: Sequence[Source], targets: Container[str] | None, progress: Progress, jobs: int = 1
    ) -> CheckResult:
        """Check a project, and report on the files named in ``targets`` (by their shown paths), or on all files.

        ``jobs`` is the number of processes, 0 to choose the number that helps. ``progress`` receives the name
        of a stage, the items done, and the total number of items.
        """
        in_order = sorted(sources, key=lambda source: source.shown)  # the result depends on this order alone
        with steady_memory(), deep_recursion():
            project, self._project = self._project, None  # an interrupted analysis is discarded
            self._solver = self._restored = None
            state, self._state = self._state, None
            if state is not None:
                result = self._followed(state, in_order, targets, progress, jobs)
                if result is not None:
                    return result
                gc.collect()  # the partly restored state
            if project is None or not project.follow(in_order, progress):
                python = project.python() if project is not None else {}
                project = None  # free its memory before the next one takes as much
                kept = python if self._keeps_python else None
                project = _Project(
                    in_order,
                    self._conventions,
                    self._hot,
                    self._table,
                    self._facts,
                    progress,
                    kept=kept,
                    jobs=jobs,
                )
            result = project.result(targets, progress, jobs)
            keep_contracts(result, project.solver, in_order, self._sync_free, targets)
            self._project, self._solver = project, project.solver
            forget_joins()
            return result

    def _followed(
        self,
        data: bytes,
        sources: Sequence[Source],
        targets: Container[str] | None,
        progress: Progress,
        jobs: int,
    ) -> CheckResult | None:
        """Return the result derived from the state of an earlier run and the changes since; None where a cold run is needed.

        The restored project serves this one check only: findings in unchanged files refer to no nodes, so
        later edits could not shift them.
        """
        try:
            state = SavedState(data, sources)
            project = _Project(
                state.sources, self._conventions, self._hot, self._table, self._facts, progress, state
            )
            if not project.follow(sources, progress):
                return None
            result = project.result(targets, progress, jobs)
            keep_contracts(result, project.solver, sources, self._sync_free, targets)
        except NotKeptError:
            return None
        self._restored, self._solver = project, project.solver
        return result

    @property
    def is_far_from_state(self) -> bool:
        """True if writing `state` costs less than a later engine saves by starting from it."""
        return self._restored is None or self._restored.is_far_from_state

    def state(self) -> bytes | None:
        """Return the engine's knowledge of the project as bytes for a later `Engine`; None where it cannot be serialised."""
        project = self._project or self._restored
        with steady_memory(), deep_recursion():
            return project.state() if project is not None else None


_WORTH_READING_BESIDE = 1000  # functions
_PART = 100  # a new state pays off if 1/100 of the files was parsed, or of the instructions executed


class _Project:
    """The modules, inferred values and findings of one version of a project."""

    def __init__(
        self,
        sources: Sequence[Source],
        conventions: Conventions,
        hot: Sequence[str],
        table: OperationTable | None,
        facts: FactSet | None,
        progress: Progress,
        state: SavedState | None = None,
        kept: Mapping[str, str] | None = None,
        jobs: int = 1,
    ) -> None:
        """Analyse the sources, or restore the analysis from ``state``, whose files are then ``sources``.

        ``kept`` has texts by path that replace files with a syntax error. Without ``kept``, such files count
        as deleted.
        """
        self._keeps_python = kept is not None
        self._hot = hot
        self._facts = facts
        # The syntax errors of files analysed in their last valid version, and the files that were never valid Python.
        self._half_typed: dict[str, Failure] = {}
        self._never_python: set[str] = set()
        self._sources = {source.shown: source for source in sources}
        self._modules: dict[str, Module] = {}
        self._origin: tuple[SavedState, KeptKnowledge] | None = None  # of a restored project
        names = Names()
        if state is not None:
            self._modules, names = _known_modules(state)
        else:
            for done, source in enumerate(sources):
                progress("read", done, len(sources))
                module = _module(source)
                if isinstance(module, Failure) and kept and source.shown in kept:
                    self._half_typed[source.shown] = module
                    module = _module(replace(source, text=kept[source.shown]))
                if isinstance(module, Module):
                    self._modules[source.shown] = module
        rules = by_precedence()
        asked = frozenset(name for rule in rules for name in rule.asks)
        self.solver = Solver([*self._modules.values()], table or load_table(), conventions, asked, facts)
        self._matching = Matching(self.solver, rules)
        self._frequency_cache = FrequencyCache()
        self._frequencies: Frequencies | None = None  # None: invalidated
        if state is None:
            self._solve(progress, jobs)
        else:
            self._recall(state, names)

    def _solve(self, progress: Progress, jobs: int) -> None:
        """Solve the project, while a second process reads what the source says of when its functions run."""
        functions = [each for each in self.solver.functions() if not each.module.is_outside]
        cache = self._frequency_cache
        count = workers(jobs) if len(functions) >= _WORTH_READING_BESIDE else 1
        with beside(lambda: cache.read(functions), count) as read:
            self.solver.solve(progress)
            if count > 1:
                cache.recall(read(), functions)

    def python(self) -> dict[str, str]:
        """Return the analysed text of each file."""
        return {shown: module.lines.text for shown, module in self._modules.items()}

    def follow(self, sources: Sequence[Source], progress: Progress) -> bool:
        """Apply the changes since the last sources; return False where the analysis cannot be updated and must start anew."""
        before, self._sources = self._sources, {source.shown: source for source in sources}
        pairs = (
            (shown, before.get(shown), self._sources.get(shown)) for shown in {**before, **self._sources}
        )
        changed = [shown for shown, then, now in pairs if then is not now and then != now]
        if not changed:
            return True
        if self._facts is not None:  # runtime facts are tied to the source as it was
            return False
        try:
            edits = [each for shown in changed for each in self._edits(shown, before.get(shown))]
            self._modules = {shown: self._modules[shown] for shown in self._sources if shown in self._modules}
            if edits:
                self._take_over(edits, progress)
        except NotFollowedError:
            return False
        return True

    def _take_over(self, edits: Sequence[ModuleEdit], progress: Progress) -> None:
        revision = self.solver.revise(edits, progress)
        self._matching.forget(revision)
        if any(edit.redefines for edit in edits):
            self._frequency_cache.forget(edits, revision.functions)
        if self._frequency_cache.read_again(edits) or revision.calls_differ:
            self._frequencies = None

    def _edits(self, shown: str, before: Source | None) -> Iterator[ModuleEdit]:
        """Yield the edits of one changed file. A file that does not parse counts as deleted."""
        module, source = self._modules.get(shown), self._sources.get(shown)
        self._half_typed.pop(shown, None)
        if module is not None and source is not None and before is not None:
            if _place(source) != _place(before):
                raise NotFollowedError
            try:
                tree = tree_of(source.text)
            except _NO_PYTHON as error:
                if self._keeps_python:
                    self._half_typed[shown] = _unparsed(source, error)
                    return
                source = None
            else:
                yield edit(module, tree, Lines(source.text))
                return
        if module is not None:
            del self._modules[shown]
            yield ModuleEdit.whole(module, is_new=False)
        new = None if source is None else _module(source)
        if isinstance(new, Module):
            self._modules[shown] = new
            yield ModuleEdit.whole(new, is_new=True)

    def result(self, targets: Container[str] | None, progress: Progress, jobs: int) -> CheckResult:
        """Return the result for the files in ``targets``, or for all."""
        result = CheckResult(failed=[*self._failed(targets)])
        self._frequencies = when = self._frequencies or frequencies(
            self.solver, self._hot, self._frequency_cache
        )
        functions = [
            function
            for function in self._matching.functions(targets)
            if function.module.path not in self._half_typed
        ]
        self._matching.match(functions, progress, workers(jobs))
        for function, finding in self._matching.findings(functions):
            runs, chain = when.at(function, finding.line)
            if runs is When.UNKNOWN:
                runs = finding.when
            switch = finding.switch or when.option_at(function, finding.line)
            if switch and runs is When.STEP:
                runs, chain = When.UNKNOWN, ()
            entry_point = when.entry_point(function) if chain else ""
            found = replace(
                finding,
                when=runs,
                call_chain=chain,
                entry_point=entry_point,
                switch=switch,
                evaluation=when.in_evaluation(function),
            )
            result.findings.append(found)
        result.failed += self._matching.failed()
        observations = self.solver.context.observations
        result.facts = FactsUsed(observations.used, observations.stale)
        result.findings.sort(key=lambda finding: finding.position)
        return result

    @property
    def is_far_from_state(self) -> bool:
        """True after a cold run, or if the incremental analysis was a notable part of a cold run."""
        if self._origin is None:
            return True
        parsed = sum(module.unread is None for module in self._modules.values())
        return parsed * _PART > len(self._modules) or self.solver.executed * _PART > self.solver.size

    def state(self) -> bytes | None:
        """Return the project as bytes, or None where it cannot be serialised."""
        if self._facts is not None:  # `follow` supports no runtime facts
            return None
        state, kept = self._origin or (None, NOTHING)
        try:
            knowledge = KnowledgeWriter(self.solver, kept)
            found = self._matching.written(FindingWriter(knowledge.names, knowledge.cells))
            parts = chain(
                knowledge.parts(),
                [
                    (
                        "indexed",
                        text_of([[s, knowledge.names.number(each)] for s, each in self._modules.items()]),
                    ),
                    ("found", text_of(found)),
                    (
                        "frequencies",
                        text_of(self._frequency_cache.data(knowledge.names.functions.in_order())),
                    ),
                    (
                        "times",
                        text_of(
                            self._frequencies and [[*self._hot], self._frequencies.data(knowledge.names)]
                        ),
                    ),
                ],
            )
            return written(parts, [*self._sources.values()], state)
        except NotKeptError:
            return None

    def _recall(self, state: SavedState, names: Names) -> None:
        trees = {shown: module.tree for shown, module in self._modules.items() if shown in state.changed}
        parts = state.parts
        knowledge = KnowledgeReader(self.solver, parts, names)
        self._origin = state, knowledge.kept
        reader = FindingReader(self.solver, names, knowledge.cell, Trees(trees))
        with reading():
            self._matching.recall(json.loads(parts["found"]), names.functions, reader)
            self._frequency_cache.recall(json.loads(parts["frequencies"]), names.functions.in_order())
            hot, data = json.loads(parts["times"]) or (None, None)
            if hot == [*self._hot]:
                self._frequencies = Frequencies.recalled(data, names, self._frequency_cache)

    def _failed(self, targets: Container[str] | None) -> Iterator[Failure]:
        yield from self._half_typed.values()
        for shown, source in self._sources.items():
            if shown not in self._modules:
                reported = (targets is None or shown in targets) and shown not in self._never_python
                failure = _module(source, reported=reported)
                assert isinstance(failure, Failure)
                if self._keeps_python and reported and not failure.python:
                    self._never_python.add(shown)
                yield failure


def _known_modules(state: SavedState) -> tuple[dict[str, Module], Names]:
    """Return the modules of the files in a state, and the numbers of their definitions; parse changed files only."""
    parts = state.parts
    sources = {source.shown: source for source in state.sources}
    modules: dict[str, Module] = {}
    with reading():
        lines, data = KeptLines("modules", parts), []
        for shown, number in json.loads(parts["indexed"]):
            data.append(each := json.loads(lines[number]))
            source = sources[shown]
            if shown in state.changed:
                module = _module(source)
                if not isinstance(module, Module):
                    raise NotKeptError("not what was written")
            else:
                is_package = source.path.stem == "__init__"
                module = module_of(each, source.module, shown, source.text, is_package=is_package)
            modules[shown] = module
        names = link([*modules.values()], data, json.loads(parts["ends"]))
    return modules, names


def _place(source: Source) -> tuple[str, str, str]:
    """Return the parts of a source beside its text that identify a module."""
    return source.shown, source.module, source.path.stem


def _module(source: Source, *, reported: bool = False) -> Module | Failure:
    """Parse and index a file, or return the reason why that fails."""
    try:
        tree = tree_of(source.text)
    except _NO_PYTHON as error:
        return _unparsed(source, error, reported=reported)
    is_package = source.path.stem == "__init__"
    try:
        return index_module(source.module, source.shown, tree, Lines(source.text), is_package=is_package)
    except RecursionError as error:
        return _unparsed(source, error)
    except Exception as error:
        return Failure(source.shown, 0, defect(error))


_NO_PYTHON = (SyntaxError, ValueError, RecursionError)


def _newer_syntax(text: str) -> tuple[str, str] | None:
    from syncscan.check.newer import newer_syntax  # noqa: PLC0415 (its import takes longer than a small check)

    return newer_syntax(text)


def _unparsed(source: Source, error: Exception, *, reported: bool = False) -> Failure:
    if isinstance(error, RecursionError):
        return Failure(source.shown, 0, "nested too deeply to be analysed")
    line = getattr(error, "lineno", 0) or 0
    newer = _newer_syntax(source.text) if reported else None  # slower than the rest of the analysis of a file
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
