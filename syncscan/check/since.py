"""What a change brings: the findings of a project that its state at an earlier revision did not have.

Both states are analysed whole, because a change in one file may make a line of another one wait.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from syncscan.check.baseline import Baseline, compare, entry_of
from syncscan.check.discover import load_project
from syncscan.check.files import PYTHON, shown
from syncscan.check.notebook import SUFFIX
from syncscan.check.session import Checked, check
from syncscan.check.workers import shared
from syncscan.config import Config
from syncscan.errors import ConfigError
from syncscan.git import changed_since, fork_point, repository, write_tree
from syncscan.model import Finding

_OTHERS = frozenset(
    {"pyproject.toml", "setup.py", "setup.cfg", ".gitignore"}
)  # which say what belongs together


@dataclass(frozen=True, slots=True)
class Change:
    """The repository, the commit from which on a change is looked at, and the Python files that it changed."""

    top: Path
    revision: str
    files: frozenset[Path]


def find_change(folder: Path, revision: str) -> Change:
    """The change since a revision, in commits, staged or not; ConfigError where git cannot tell."""
    top = repository(folder)
    if top is None:
        raise ConfigError(f"--since: {folder} is in no git repository")
    start = fork_point(top, revision)
    files = {path for path in changed_since(top, start) if path.suffix in {*PYTHON, SUFFIX}}
    return Change(top, start, frozenset(files))


def check_change(
    change: Change, paths: Sequence[Path], config: Config, check_now: Callable[[], Checked]
) -> Checked:
    """The outcome of a check with those findings alone that the change brings, each with the file that brought it."""

    def state(share: int, _: int) -> Checked | Counter[tuple[str, str, str, str]]:
        return check_now() if share == 0 else _before(change, paths, config)

    now, before = shared(state, 2)
    assert isinstance(now, Checked)
    assert isinstance(before, Counter)
    all_now = sorted((*now.findings, *now.known), key=lambda finding: finding.position)
    baseline = Baseline(change.top / "-", {entry_of(*key): n for key, n in before.items()}, change.revision)
    paths_now = {finding.path: Path.cwd() / finding.path for finding in all_now}
    brought = {id(finding) for finding in compare(baseline, all_now, (), paths_now, whole=()).new}
    changed = {shown(path) for path in change.files}
    return replace(
        now,
        findings=tuple(_blamed(finding, changed) for finding in now.findings if id(finding) in brought),
    )


def _before(change: Change, paths: Sequence[Path], config: Config) -> Counter[tuple[str, str, str, str]]:
    """What is found in the files of the revision, as entries of a baseline, and how often."""
    with tempfile.TemporaryDirectory(prefix="syncscan-") as name:
        folder = Path(name).resolve()
        write_tree(change.top, change.revision, _is_read, folder)
        (folder / ".git").mkdir()  # it is the top of a project, as the repository is
        real = [path.resolve() for path in paths]
        there = [folder / path.relative_to(change.top) for path in real if path.is_relative_to(change.top)]
        if config.root.is_relative_to(change.top):
            config = replace(config, root=folder / config.root.relative_to(change.top))
        project = load_project([path for path in there if path.exists()], config)
        try:
            outcome = check(project, config, _quietly, 1)
        except ConfigError:  # an entry point that the change adds
            outcome = check(project, replace(config, hot=()), _quietly, 1)
        where = {source.shown: source.path for source in project.sources}
        return Counter(
            (
                where[finding.path].relative_to(folder).as_posix(),
                finding.function,
                finding.code,
                finding.expression,
            )
            for finding in outcome.findings
        )


def _quietly(_stage: str, _done: int, _total: int) -> None:
    """Show no progress: the other state does."""


def _is_read(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith((*PYTHON, SUFFIX)) or name in _OTHERS


def _blamed(finding: Finding, changed: Collection[str]) -> Finding:
    """The finding, and the changed file that its evidence leads to, where it is not in one itself."""
    if finding.path in changed or not changed:
        return finding
    by = next((step.path for step in finding.evidence if step.path in changed), "")
    if not by:
        by = next(iter(changed)) if len(changed) == 1 else f"one of {len(changed)} changed files"
    return replace(finding, brought_by=by)
