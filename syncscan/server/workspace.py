"""The source of the server's findings: an engine that stays in memory, and the present files of the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from syncscan.check.baseline import read_baseline
from syncscan.check.discover import Project, load_project
from syncscan.check.files import Source, SourceError, read_source, shown
from syncscan.check.libraries.reading import Libraries
from syncscan.check.resident import Resident
from syncscan.check.session import check
from syncscan.config import Config
from syncscan.model import Finding
from syncscan.server.settings import Settings

Progress = Callable[[str, int, int], None]


class Workspace:
    """Reads a project once, and works out what a change of an open file changes.

    Each question names what editors hold in place of what is on the disk.
    """

    def __init__(self) -> None:
        self.settings = Settings()
        self._resident = Resident()
        self._libraries = Libraries()
        self._projects: dict[Path, Project] = {}

    def look_again(self) -> None:
        """Read the projects again at the next question: their files on the disk may have changed."""
        self._projects.clear()

    def findings(
        self, path: Path, open_files: Mapping[Path, bytes], progress: Progress
    ) -> Sequence[Finding] | None:
        """Return the findings in one file, in order, with the settings that apply to it; SyncscanError where there can be none.

        None if the file is half typed. Other files see such a file in its last valid form.
        """
        settings = self.settings
        if not settings.enable:
            return ()
        config = settings.config_in(path.parent)
        project = self._project(path, config, open_files)
        if project is None:
            return None
        baseline = read_baseline(config.baseline) if config.baseline else None
        outcome = check(project, config, progress, 1, baseline, resident=self._resident)
        broken = {failure.path for failure in (*outcome.failures, *outcome.newer) if not failure.partial}
        if shown(path) in broken:
            return None
        return [finding for finding in outcome.findings if finding.path == shown(path)]

    def _project(self, path: Path, config: Config, open_files: Mapping[Path, bytes]) -> Project | None:
        """Return the project of a file, with the editors' texts; None where the file cannot be read."""
        if path not in self._projects:
            self._projects[path] = self._libraries.added_to(load_project([path], config, open_files), config)
        project = self._projects[path]
        own = (source for source in project.sources if source.shown not in project.packages)
        opened = {source.path: source for source in own if source.path in open_files}
        readable = {
            path: now for path, was in opened.items() if (now := _opened(was, open_files)) is not None
        }
        if path in opened and path not in readable:
            return None
        sources = tuple(readable.get(source.path, source) for source in project.sources)
        project = self._projects[path] = replace(project, sources=sources)
        return project


def _opened(source: Source, open_files: Mapping[Path, bytes]) -> Source | None:
    """Return a file as an editor holds it; None where the text cannot be read, such as half a notebook."""
    try:
        now = read_source(source.path, source.path.parent, open_files)
    except SourceError:
        return None
    return replace(now, module=source.module, link=source.link)
