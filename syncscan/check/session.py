"""One run of the check: the engine, what the user asked for, suppressions, and rounds of fixes."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from syncscan.check.baseline import Baseline, compare
from syncscan.check.cache import Store, key_of_place, key_of_result, key_of_state
from syncscan.check.discover import Project
from syncscan.check.engine import Engine, check_sources
from syncscan.check.files import Source, SourceError, read_bytes
from syncscan.check.fix import Draft
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.notebook import NotebookCells
from syncscan.check.resident import Resident
from syncscan.check.result import CheckResult, FactsUsed
from syncscan.check.suppress import apply_suppressions
from syncscan.check.write import remove_leftover
from syncscan.config import Config
from syncscan.errors import ConfigError
from syncscan.facts import FactSet, merged
from syncscan.model import UNUSED_SUPPRESSION, Evidence, Failure, Finding, Suppressed, When, place_of

# A fix may enable another fix, such as the outer of two calls. More rounds than this number are a defect.
MAX_ROUNDS = 8

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check: findings in order, and files that could not be analysed."""

    findings: tuple[Finding, ...]
    failures: tuple[Failure, ...]
    newer: tuple[Failure, ...]  # files that this Python cannot parse and a newer one can
    checked: int  # files that were analysed
    texts: Mapping[str, str]  # of the files that hold the findings
    drafts: tuple[Draft, ...] = ()  # the files that fixes changed
    fixed: int = 0  # findings removed by fixes
    unfixed: tuple[Failure, ...] = ()  # the files that could not be fixed, and the reasons
    suppressed: tuple[Suppressed, ...] = ()  # by comments
    left_out: Mapping[When, int] = field(default_factory=dict)  # hidden findings by execution frequency
    known: tuple[Finding, ...] = ()  # in the baseline
    gone: int = 0  # entries of the baseline without a finding
    baseline: Baseline | None = None  # the baseline of this run
    facts: FactsUsed = field(default_factory=FactsUsed)
    refuted: tuple[Finding, ...] = ()  # refuted by runtime facts


def check(
    project: Project,
    config: Config,
    progress: Progress,
    jobs: int,
    baseline: Baseline | None = None,
    store: Store | None = None,
    resident: Resident | None = None,
) -> Checked:
    """Check a project, and separate new findings from the baseline's; look into a store first.

    With ``resident``, the engine that holds the project analyses only the changes since its last check.

    ConfigError where `hot` names a missing function.
    """
    result, refuted = _found(project, config, progress, jobs, store, resident)
    files = _Files(project, result.failed)
    findings, suppressed = apply_suppressions(
        [
            finding
            for finding in (*_of_project(result.findings, project), *refuted)
            if finding.path in files.paths
        ],
        files.whole_sources(),
        require_reason=config.require_reason,
    )
    asked = _Asked(config, files)
    not_so = {finding.position for finding in refuted}
    reported = list(filter(asked.reports, findings))
    said = [finding for finding in reported if finding.position not in not_so]
    shown = tuple(filter(config.shows, said))
    outcome = Checked(
        findings=shown,
        failures=files.failures,
        newer=files.newer,
        checked=len(files.paths.keys() - files.broken),
        texts=files.texts({finding.path for finding in shown}),
        suppressed=tuple(one for one in suppressed if asked.shows(one.finding)),
        left_out=Counter(finding.when for finding in said if not config.shows(finding)),
        facts=result.facts,
        refuted=tuple(f for f in reported if f.position in not_so and config.shows(f)),
    )
    return outcome if baseline is None else _held_against(baseline, outcome, findings, asked)


def _of_project(findings: Sequence[Finding], project: Project) -> Sequence[Finding]:
    """Return findings without entry points in installed packages, which no setting of the project names."""
    if not project.packages:
        return findings
    own = {"", *project.modules}
    return [
        each if each.entry_point.partition(":")[0] in own else replace(each, entry_point="")
        for each in findings
    ]


class _Files:
    """The files to report on, and the files of the project that could not be analysed."""

    def __init__(self, project: Project, failed: Sequence[Failure]) -> None:
        self._sources = _targets(project)
        self.paths = {source.shown: source.path for source in self._sources}
        failures = [*project.failures, *(failure for failure in failed if failure.path in self.paths)]
        failures.sort(key=lambda failure: (failure.path, failure.line))
        self.failures = tuple(failure for failure in failures if not failure.python)
        self.newer = tuple(failure for failure in failures if failure.python)
        self.broken = {failure.path for failure in failures if not failure.partial}
        self.doubtful = {failure.path for failure in failures if failure.partial}

    def whole_sources(self) -> list[Source]:
        """Return the sources that were analysed."""
        return [source for source in self._sources if source.shown not in self.broken]

    def texts(self, paths: Container[str]) -> dict[str, str]:
        """Return the texts of some sources."""
        return {source.shown: source.text for source in self._sources if source.shown in paths}


@dataclass(frozen=True, slots=True)
class _Asked:
    """The selection of findings that the user asked for."""

    config: Config
    files: _Files

    def reports(self, finding: Finding) -> bool:
        """Return whether rule, confidence and file of a finding are selected, at any execution frequency."""
        if finding.code == UNUSED_SUPPRESSION and finding.path in self.files.doubtful:
            return False  # the findings that a comment suppresses may be unknown
        return self.config.reports(finding, self.files.paths[finding.path])

    def shows(self, finding: Finding) -> bool:
        """Return whether the execution frequency of a finding is selected too."""
        return self.reports(finding) and self.config.shows(finding)


def _held_against(
    baseline: Baseline, outcome: Checked, findings: Sequence[Finding], asked: _Asked
) -> Checked:
    """Return the outcome without the findings in a baseline; unselected findings keep their entries."""
    files = asked.files
    others = [finding for finding in findings if not asked.shows(finding)]
    whole = files.paths.keys() - files.broken - files.doubtful
    compared = compare(baseline, outcome.findings, others, files.paths, whole=whole)
    return replace(
        outcome, findings=compared.new, known=compared.known, gone=compared.gone, baseline=compared.updated
    )


def _found(
    project: Project,
    config: Config,
    progress: Progress,
    jobs: int,
    store: Store | None,
    resident: Resident | None,
) -> tuple[CheckResult, tuple[Finding, ...]]:
    """Return the result of the engine, and the findings that only the facts refute."""
    facts = merged(config.facts) if config.facts else None
    try:
        result = _result(project, config, progress, jobs, store, facts, resident)
        if not facts:
            return result, ()
        plain = _result(project, config, progress, jobs, store, None, resident)
    except ConfigError as error:  # (the engine knows no file of settings)
        raise ConfigError(f"{config.source}: [tool.syncscan]: {error}") from error
    found = {finding.position[:4] for finding in result.findings}
    return result, tuple(finding for finding in plain.findings if finding.position[:4] not in found)


def _result(
    project: Project,
    config: Config,
    progress: Progress,
    jobs: int,
    store: Store | None,
    facts: FactSet | None,
    resident: Resident | None,
) -> CheckResult:
    """Return the engine's result for a project; the store receives the result for all its files."""
    sources, conventions, hot = project.sources, config.conventions, config.hot
    if resident is not None:
        return resident.engine(sources, config, facts).check(sources, project.targets, progress)
    if store is None:
        table = config.table()
        return check_sources(
            sources, project.targets, conventions, progress, jobs, hot, table, facts, config.sync_free
        )
    key = key_of_result(sources, config, facts)
    result = store.read(key)
    if result is None:
        result, _ = solved(sources, config, progress, jobs, store, facts)
        store.write(key, result)
    return result


def solved(
    sources: Sequence[Source],
    config: Config,
    progress: Progress,
    jobs: int,
    store: Store | None,
    facts: FactSet | None,
    place: str = "",
) -> tuple[CheckResult, Solver]:
    """Check all files in an engine that begins with the state in a store; return the engine's solver too.

    The projects of one ``place`` begin with the last state of that place. By default, a place is the working folder.
    """
    conventions, hot = config.conventions, config.hot
    name = key_of_state(sources, conventions, config.operations)
    place = place or key_of_place(conventions, config.operations)
    state = None if facts or store is None else store.read_state(name, place)
    engine = Engine(conventions, hot, config.table(), facts, state, sync_free=config.sync_free)
    result = engine.check(sources, None, progress, jobs)
    if store is not None and engine.is_far_from_state:
        store.write_state(name, place, engine.state)
    assert engine.solver is not None
    return result, engine.solver


def _targets(project: Project) -> list[Source]:
    return [s for s in project.sources if project.targets is None or s.shown in project.targets]


def check_and_fix(
    project: Project,
    config: Config,
    progress: Progress,
    jobs: int,
    *,
    chosen: Callable[[Checked], Sequence[Finding]],
    contents: Mapping[Path, bytes],
    rounds: int = MAX_ROUNDS,
    baseline: Baseline | None = None,
    store: Store | None = None,
) -> Checked:
    """Check a project, apply the fixes of the ``chosen`` findings, and check again; writes no file of the project.

    Further rounds follow until nothing changes, up to a number. Each round checks the whole project, because a fix in
    one file may change the findings in another. Rounds after the first are incremental.
    """
    drafts: dict[str, Draft] = {}
    unfixed: list[Failure] = []
    resident = Resident() if store is None else None
    outcome = check(project, config, progress, jobs, baseline, store, resident)
    before = len(outcome.findings)
    for _ in range(rounds):
        changed = _apply(chosen(outcome), project, drafts, unfixed, contents=contents)
        if not changed:
            break
        sources = tuple(drafts[s.shown].fixed if s.shown in changed else s for s in project.sources)
        project = replace(project, sources=sources)
        gc.collect()  # the last round's project, before the next one takes as much
        outcome = check(project, config, progress, jobs, baseline, store, resident)
    done = tuple(draft for draft in drafts.values() if draft.after != draft.before)
    return replace(
        outcome,
        drafts=done,
        fixed=max(0, before - len(outcome.findings)),
        unfixed=tuple(dict.fromkeys(unfixed)),
    )


def write_fixes(
    outcome: Checked,
    project: Project,
    config: Config,
    progress: Progress,
    jobs: int,
    baseline: Baseline | None = None,
) -> Checked:
    """Write the fixed files; if some files stay unchanged, the outcome is of the files on the disk."""
    for source in _targets(project):
        remove_leftover(source.path)
    unfixed = [failure for draft in outcome.drafts if (failure := _written(draft))]
    if not unfixed:
        return outcome
    unwritten = {failure.path for failure in unfixed}
    fixed = {d.source.shown: d.fixed for d in outcome.drafts if d.source.shown not in unwritten}
    sources = tuple(fixed.get(source.shown, source) for source in project.sources)
    left = check(replace(project, sources=sources), config, progress, jobs, baseline)
    before = outcome.fixed + len(outcome.findings)
    return replace(left, fixed=max(0, before - len(left.findings)), unfixed=(*outcome.unfixed, *unfixed))


def _written(draft: Draft) -> Failure | None:
    try:
        draft.write()
    except SourceError as error:
        return Failure(draft.source.shown, 0, str(error))
    return None


def _apply(
    chosen: Sequence[Finding],
    project: Project,
    drafts: dict[str, Draft],
    unfixed: list[Failure],
    *,
    contents: Mapping[Path, bytes],
) -> set[str]:
    """Apply one round of fixes to the drafts; return the changed files."""
    by_path: dict[str, list[Finding]] = {}
    for finding in chosen:
        by_path.setdefault(finding.path, []).append(finding)
    sources = {source.shown: source for source in project.sources}
    changed = set()
    for path, findings in by_path.items():
        try:
            draft = drafts.get(path) or _draft(sources[path], contents)
        except SourceError as error:
            unfixed.append(Failure(path, 0, str(error)))
            continue
        drafts[path] = draft
        text = draft.after
        if not draft.stuck:
            unfixed += draft.apply(findings)
        if draft.after != text:
            changed.add(path)
    return changed


def _draft(source: Source, contents: Mapping[Path, bytes]) -> Draft:
    return Draft.of(source, contents[source.path] if source.path in contents else read_bytes(source.path))


def in_cells(outcome: Checked, project: Project) -> Checked:
    """Return the same with lines of cells where they are lines of the program that the cells of a notebook make."""
    notebooks = {source.shown: source for source in project.sources if source.cells.starts}
    # With fixes, findings are about the fixed code.
    notebooks |= {draft.source.shown: draft.fixed for draft in outcome.drafts if draft.notebook}
    if not notebooks:
        return outcome
    cells = {shown: source.cells for shown, source in notebooks.items()}

    def located(finding: Finding) -> Finding:
        finding = replace(
            finding,
            evidence=tuple(map(step_located, finding.evidence)),
            passed_too=tuple(map(step_located, finding.passed_too)),
        )
        if finding.path not in cells:
            return finding
        cell, line = cells[finding.path].place(finding.line)
        back = finding.line - line
        edits = tuple(
            replace(edit, line=edit.line - back, end_line=edit.end_line - back) for edit in finding.fix.edits
        )
        return replace(
            finding,
            cell=cell,
            line=line,
            end_line=finding.end_line - back,
            follows=max(finding.follows - back, 0),
            fix=replace(finding.fix, edits=edits),
        )

    def step_located(step: Evidence) -> Evidence:
        cell, line = cells.get(step.path, NotebookCells()).place(step.line)
        return replace(step, line=line, cell=cell, parent=None)

    def failure_located(failure: Failure) -> Failure:
        cell, line = cells.get(failure.path, NotebookCells()).place(failure.line)
        return replace(failure, line=line, cell=cell)

    texts = dict(outcome.texts)
    for path in cells.keys() & texts.keys():
        texts |= _texts_of_cells(notebooks[path])
    return replace(
        outcome,
        findings=tuple(map(located, outcome.findings)),
        known=tuple(map(located, outcome.known)),
        suppressed=tuple(replace(one, finding=located(one.finding)) for one in outcome.suppressed),
        failures=tuple(map(failure_located, outcome.failures)),
        newer=tuple(map(failure_located, outcome.newer)),
        texts=texts,
    )


def _texts_of_cells(source: Source) -> dict[str, str]:
    rows, cells = source.written.split("\n"), source.cells
    ends = [*(start - 1 for start in cells.starts[1:]), len(rows)]
    return {
        place_of(source.shown, number): "\n".join(rows[first:end])
        for number, first, end in zip(cells.numbers, cells.starts, ends, strict=True)
    }
