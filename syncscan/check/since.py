"""The findings that a change brings: findings that are absent at an earlier revision.

Both states are analysed whole, because a change in one file may make a line of another one block.
"""

from __future__ import annotations

import gc
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from syncscan.check.baseline import Baseline, BaselineEntry, compare, entry_of
from syncscan.check.cache import Store
from syncscan.check.discover import Project, load_project
from syncscan.check.files import PYTHON, shown
from syncscan.check.libraries.reading import Libraries
from syncscan.check.notebook import SUFFIX
from syncscan.check.session import Checked, Progress, check
from syncscan.config import Config
from syncscan.errors import ConfigError
from syncscan.model import Finding
from syncscan.system.git import changed_since, contents_at, fork_point, repository

# Files that mark the root of a project, or exclude files.
_OTHERS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", ".gitignore"})


@dataclass(frozen=True, slots=True)
class Change:
    """The repository, the commit from which on a change is looked at, and the Python files that it changed.

    ``is_of_texts`` where the files are those that were there, so that only their texts differ.
    """

    top: Path
    revision: str
    files: frozenset[Path]
    is_of_texts: bool


def find_change(folder: Path, revision: str) -> Change:
    """Return the change since a revision, in commits, staged or not; ConfigError where git fails."""
    top = repository(folder)
    if top is None:
        raise ConfigError(f"--since: {folder} is in no git repository")
    start = fork_point(top, revision)
    changed = changed_since(top, start)
    files = {path for path in changed.edited | changed.others if _is_python(path.name)}
    is_of_texts = not any(path.name == ".gitignore" for path in changed.edited) and not any(
        _is_read(path.name) for path in changed.others
    )
    return Change(top, start, frozenset(files), is_of_texts)


def check_change(
    change: Change,
    paths: Sequence[Path],
    config: Config,
    progress: Progress,
    jobs: int,
    store: Store | None,
    check_now: Callable[[Store], Checked],
) -> Checked:
    """Return the outcome of a check with those findings alone that the change brings, each with the file that brought it.

    The state before the change is checked first. The cache has its findings, if it was checked when it was the
    newest. Otherwise the cache has its values afterwards, from which the check of the present files follows.
    """
    with tempfile.TemporaryDirectory(prefix="syncscan-") as name:
        folder = Path(name).resolve()
        kept = store or Store(folder / "kept")
        before = _before(change, paths, config, folder / "tree", _before_the_change(progress), jobs, kept)
        gc.collect()  # free the former project, before the next project takes as much
        now = check_now(kept)
    all_now = sorted((*now.findings, *now.known), key=lambda finding: finding.position)
    baseline = Baseline(change.top / "-", before, change.revision)
    paths_now = {finding.path: Path.cwd() / finding.path for finding in all_now}
    brought = {id(finding) for finding in compare(baseline, all_now, (), paths_now, whole=()).new}
    changed = {shown(path) for path in change.files}
    return replace(
        now,
        findings=tuple(_blamed(finding, changed) for finding in now.findings if id(finding) in brought),
    )


def _before(
    change: Change,
    paths: Sequence[Path],
    config: Config,
    tree: Path,
    progress: Progress,
    jobs: int,
    store: Store,
) -> Counter[BaselineEntry]:
    """Return the findings in the files of the revision, as entries of a baseline with their counts."""
    project = Libraries(store).added_to(_project_before(change, paths, config, tree), config)
    try:
        outcome = check(project, config, progress, jobs, store=store)
    except ConfigError:  # an entry point that the change adds
        outcome = check(project, replace(config, hot=()), progress, jobs, store=store)
    where = {source.shown: source.path for source in project.sources}
    return Counter(
        entry_of(
            where[finding.path].relative_to(change.top).as_posix(),
            finding.function,
            finding.code,
            finding.expression,
        )
        for finding in outcome.findings
    )


def _project_before(change: Change, paths: Sequence[Path], config: Config, tree: Path) -> Project:
    """Return the project at the revision, whose files have the names of their present places."""
    if change.is_of_texts:
        contents = contents_at(change.top, change.revision, lambda path: change.top / path in change.files)
        return load_project(paths, config, {change.top / path: data for path, data in contents.items()})
    for path, data in contents_at(change.top, change.revision, _is_read).items():
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    (tree / ".git").mkdir(parents=True)  # the tree is the top of a project, as the repository is
    real = [path.resolve() for path in paths]
    there = [tree / path.relative_to(change.top) for path in real if path.is_relative_to(change.top)]
    if config.root.is_relative_to(change.top):
        config = replace(config, root=tree / config.root.relative_to(change.top))
    project = load_project([path for path in there if path.exists()], config)
    names = {source.shown: change.top / source.path.relative_to(tree) for source in project.sources}
    targets = None if project.targets is None else frozenset(shown(names[name]) for name in project.targets)
    sources = tuple(
        replace(source, path=names[source.shown], shown=shown(names[source.shown]))
        for source in project.sources
    )
    return replace(project, sources=sources, targets=targets)


def _before_the_change(progress: Progress) -> Progress:
    """Return a progress that marks its stages as stages of the former files."""
    return lambda stage, done, total: progress(f"{stage} (before)", done, total)


def _is_read(path: str) -> bool:
    return _is_python(path) or path.rpartition("/")[2] in _OTHERS


def _is_python(path: str) -> bool:
    return path.endswith((*PYTHON, SUFFIX))


def _blamed(finding: Finding, changed: Collection[str]) -> Finding:
    """Return the finding, with the changed file in its evidence if its own file did not change."""
    if finding.path in changed or not changed:
        return finding
    by = next((step.path for step in finding.evidence if step.path in changed), "")
    if not by:
        by = next(iter(changed)) if len(changed) == 1 else f"one of {len(changed)} changed files"
    return replace(finding, brought_by=by)
