"""What the server asks for findings: an engine that stays in memory, and the files of the project as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from syncscan.check.baseline import read_baseline
from syncscan.check.discover import Project, load_project
from syncscan.check.files import Source, SourceError, read_source, shown
from syncscan.check.nesting import parse
from syncscan.check.resident import Resident
from syncscan.check.session import check
from syncscan.config import find_config
from syncscan.model import Finding

Progress = Callable[[str, int, int], None]


class Workspace:
    """Reads a project once, and works out what a change of an open file changes.

    Each question names what editors hold in place of what is on the disk.
    """

    def __init__(self) -> None:
        self._resident = Resident()
        self._projects: dict[Path, Project] = {}

    def look_again(self) -> None:
        """What is on the disk may have changed: read the projects again when they are asked about next."""
        self._projects.clear()

    def findings(self, path: Path, open_files: Mapping[Path, bytes], progress: Progress) -> Sequence[Finding]:
        """The findings in one file, in order, with the settings that apply to it; SyncscanError where there can be none."""
        config = find_config(path.parent)
        if path not in self._projects:
            self._projects[path] = load_project([path], config, open_files)
        try:
            project = _as_open(self._projects[path], open_files)
        except SourceError:
            project = load_project([path], config, open_files)
        if any(source.path == path and _is_broken(source) for source in project.sources):
            return []  # until it is whole again, what is known of the project stays
        baseline = read_baseline(config.baseline) if config.baseline else None
        outcome = check(project, config, progress, 1, baseline, resident=self._resident)
        return [finding for finding in outcome.findings if finding.path == shown(path)]


def _as_open(project: Project, open_files: Mapping[Path, bytes]) -> Project:
    """A project with the texts that editors hold; SourceError where one is none of Python."""
    sources = tuple(
        _read(source, open_files) if source.path in open_files else source for source in project.sources
    )
    return replace(project, sources=sources)


def _read(source: Source, open_files: Mapping[Path, bytes]) -> Source:
    now = read_source(source.path, source.path.parent, open_files)
    return replace(now, module=source.module, link=source.link)


def _is_broken(source: Source) -> bool:
    try:
        parse(source.text)
    except (SyntaxError, ValueError, RecursionError):
        return True
    return False
