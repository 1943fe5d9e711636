"""Sources to findings: index, infer, match. Knows no file system and no terminal."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from syncscan.check.defects import defect
from syncscan.check.files import Source
from syncscan.check.infer.domain.lattice import forget_joins
from syncscan.check.infer.kept.knowledge import KnowledgeReader, KnowledgeWriter
from syncscan.check.infer.kept.names import text_of
from syncscan.check.infer.kept.reading import NotKeptError, reading
from syncscan.check.infer.kept.sources import link, module_of
from syncscan.check.infer.kept.spots import Trees
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.infer.source.edits import ModuleEdit, NotFollowedError, edit
from syncscan.check.infer.source.index import Module
from syncscan.check.infer.source.indexer import index_module
from syncscan.check.infer.source.lines import Lines
from syncscan.check.infer.source.trees import tree_of
from syncscan.check.kept import FindingReader, FindingWriter
from syncscan.check.matching import CheckResult, FactsUsed, Matching
from syncscan.check.nesting import deep_recursion
from syncscan.check.prove.contracts import has_contracts, keep_contracts
from syncscan.check.rhythms import Rhythms
from syncscan.check.state import SavedState, written
from syncscan.check.when import Times, times
from syncscan.facts import FactSet
from syncscan.model import Conventions, Failure
from syncscan.ops import OperationTable, load_table
from syncscan.rule import by_precedence
from syncscan.system.memory import steady_memory
from syncscan.system.workers import workers

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
    """Check a whole project once; see `Engine`."""
    engine = Engine(conventions, hot, table, facts, sync_free=sync_free)
    return engine.check(sources, targets, progress, jobs)


class Engine:
    """The check of one project. Asked again, it works out what has changed since, and the rest it knows.

    ``hot`` names the entry points of a step, see `syncscan.check.when`; ``table`` is the operation table, where
    the project has operations of its own; ``facts`` has what was seen while it ran; ``state`` is what an earlier
    engine of the same settings knew of files of the same names; ``sync_free`` names the functions that are to be free of synchronization. What it says is a function of the sources that it is asked about, whatever
    it was asked before; but with ``keeps_python``, a file that is being typed counts for the others as it was when it was Python last.
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

    @property
    def solver(self) -> Solver | None:
        """What is known of the project that was asked about last."""
        return self._project.solver if self._project is not None else None

    def check(
        self, sources: Sequence[Source], targets: Container[str] | None, progress: Progress, jobs: int = 1
    ) -> CheckResult:
        """Check a project, and report on the files named in ``targets`` (as shown), or on all.

        ``jobs`` is how many processes to use, 0 for as many as help. ``progress`` is called with the name of a stage, how much of it is done, and of how much.
        """
        in_order = sorted(sources, key=lambda source: source.shown)  # of which the result is a function
        with steady_memory(), deep_recursion():
            project, self._project = self._project, None  # what ends halfway is not kept
            state, self._state = self._state, None
            if state is not None:
                result = self._followed(state, in_order, targets, progress, jobs)
                if result is not None:
                    return result
                gc.collect()  # what was read of it
            if project is None or not project.follow(in_order, progress):
                python = project.python() if project is not None else {}
                project = None  # before the next one takes as much
                kept = python if self._keeps_python else None
                project = _Project(
                    in_order,
                    self._conventions,
                    self._hot,
                    self._table,
                    self._facts,
                    progress,
                    kept=kept,
                )
            result = project.result(targets, progress, jobs)
            keep_contracts(result, project.solver, in_order, self._sync_free, targets)
            self._project = project
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
        """What follows from the state of an earlier run and what has changed since; None where all is to be worked out anew.

        It serves this once: what it knows of files that have not changed stands at no nodes, and could not move.
        """
        if has_contracts(sources, self._sync_free):
            return None  # proofs read every file
        try:
            state = SavedState(data, sources)
            project = _Project(
                state.sources, self._conventions, self._hot, self._table, self._facts, progress, state
            )
            return project.result(targets, progress, jobs) if project.follow(sources, progress) else None
        except NotKeptError:
            return None

    def state(self) -> bytes | None:
        """What is known of the project, for `Engine` in another run; None where that cannot be kept."""
        with steady_memory(), deep_recursion():
            return self._project.state() if self._project is not None else None


class _Project:
    """All that is known of a project as it is."""

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
    ) -> None:
        """Work it out, or take over what a state says of the files, which are those that it is about.

        ``kept`` has texts that count in place of those that are no Python; None where those count as gone.
        """
        self._keeps_python = kept is not None
        self._hot = hot
        self._facts = facts
        # Files that count as they were Python last, and what is wrong with them; those that never were Python of any version.
        self._half_typed: dict[str, Failure] = {}
        self._never_python: set[str] = set()
        self._sources = {source.shown: source for source in sources}
        self._modules: dict[str, Module] = {}
        parts = state.parts() if state is not None else {}
        if state is not None:
            self._modules = _known_modules(state, parts)
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
        self._rhythms = Rhythms()
        self._times: Times | None = None  # as long as that holds
        if state is None:
            self.solver.solve(progress)
        else:
            self._recall(state, parts)

    def python(self) -> dict[str, str]:
        """The texts that count."""
        return {shown: module.lines.text for shown, module in self._modules.items()}

    def follow(self, sources: Sequence[Source], progress: Progress) -> bool:
        """Take over what has changed; False if what follows from it cannot be told, and all is to be read anew."""
        before, self._sources = self._sources, {source.shown: source for source in sources}
        pairs = (
            (shown, before.get(shown), self._sources.get(shown)) for shown in {**before, **self._sources}
        )
        changed = [shown for shown, then, now in pairs if then is not now and then != now]
        if not changed:
            return True
        if self._facts is not None:  # which are about functions as they were
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
            self._rhythms.forget(edits, revision.functions)
        if self._rhythms.read_again(edits) or revision.calls_differ:
            self._times = None

    def _edits(self, shown: str, before: Source | None) -> Iterator[ModuleEdit]:
        """What has become of a file. One that cannot be read is as good as none."""
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
        """What is found in some files, or in all."""
        result = CheckResult(failed=[*self._failed(targets)])
        self._times = when = self._times or times(self.solver, self._hot, self._rhythms)
        functions = [
            function
            for function in self._matching.functions(targets)
            if function.module.path not in self._half_typed
        ]
        self._matching.match(functions, progress, workers(jobs))
        for function, finding in self._matching.findings(functions):
            runs, chain = when.at(function, finding.line)
            entry_point = when.entry_point(function) if chain else ""
            found = replace(finding, when=runs, call_chain=chain, entry_point=entry_point)
            result.findings.append(found)
        result.failed += self._matching.failed()
        observations = self.solver.context.observations
        result.facts = FactsUsed(observations.used, observations.stale)
        result.findings.sort(key=lambda finding: finding.position)
        return result

    def state(self) -> bytes | None:
        """All of that as bytes; None where it cannot be kept."""
        if self._facts is not None:  # with which nothing is followed
            return None
        try:
            knowledge = KnowledgeWriter(self.solver)
            found = self._matching.written(FindingWriter(knowledge.names, knowledge.cells))
            parts = chain(
                knowledge.parts(),
                [
                    ("indexed", text_of([*self._modules])),
                    ("found", text_of(found)),
                    ("rhythms", text_of(self._rhythms.data(knowledge.names.functions))),
                    ("times", text_of(self._times and [[*self._hot], self._times.data(knowledge.names)])),
                ],
            )
            return written(parts, [*self._sources.values()])
        except NotKeptError:
            return None

    def _recall(self, state: SavedState, parts: Mapping[str, str]) -> None:
        trees = {shown: module.tree for shown, module in self._modules.items() if shown in state.changed}
        knowledge = KnowledgeReader(self.solver, parts)
        names = knowledge.names
        reader = FindingReader(self.solver, names, knowledge.cell, Trees(trees))
        with reading():
            self._matching.recall(json.loads(parts["found"]), names.functions, reader)
            self._rhythms.recall(json.loads(parts["rhythms"]), names.functions)
            hot, data = json.loads(parts["times"]) or (None, None)
            if hot == [*self._hot]:
                self._times = Times.recalled(data, names, self._rhythms)

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


def _known_modules(state: SavedState, parts: Mapping[str, str]) -> dict[str, Module]:
    """The modules of files as they were, of which those that are not to change are not read."""
    sources = {source.shown: source for source in state.sources}
    modules: dict[str, Module] = {}
    with reading():
        data = [*map(json.loads, parts["modules"].split("\n"))]
        for shown, each in zip(json.loads(parts["indexed"]), data, strict=True):
            source = sources[shown]
            if shown in state.changed:
                module = _module(source)
                if not isinstance(module, Module):
                    raise NotKeptError("not what was written")
            else:
                is_package = source.path.stem == "__init__"
                module = module_of(each, source.module, shown, source.text, is_package=is_package)
            modules[shown] = module
        link([*modules.values()], data)
    return modules


def _place(source: Source) -> tuple[str, str, str]:
    """What of a source is not its text, and counts."""
    return source.shown, source.module, source.path.stem


def _module(source: Source, *, reported: bool = False) -> Module | Failure:
    """Parse and index a file, or say why that fails."""
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
    newer = _newer_syntax(source.text) if reported else None  # which takes longer than all the rest of a file
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
