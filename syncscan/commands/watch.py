"""``syncscan check --watch``: a check that stays, and looks again whenever a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import click

from syncscan.check.discover import Project
from syncscan.config import Config
from syncscan.errors import EXIT_OK, SyncscanError
from syncscan.report.safe_text import safe_line

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
_EACH = 0.2  # seconds between two looks
_PART = 0.05  # share of a processor for looking, at most
_QUIET = 0.1  # seconds without another change, for tools that write many files

Stamps = dict[Path, tuple[int, int, int] | None]


@dataclass(frozen=True, slots=True)
class Watched:
    """The state of a watched project: its files as read, the settings, and every other file that decides the findings."""

    project: Project
    config: Config
    files: tuple[Path, ...]
    start: float = field(compare=False)  # of reading it, of the monotonic clock

    def looked_at(self) -> frozenset[Path]:
        """Return all that shows by its time stamp that there is something to do."""
        folders = self.project.folders
        named = (source.path for source in self.project.sources)
        return frozenset((*named, *folders, *(folder / ".gitignore" for folder in folders), *self.files))


def watch(read: Callable[[], Watched], show: Callable[[Watched], object]) -> int:
    """Show the findings, and again after each change, until Ctrl-C.

    The first error of ``read`` is raised. Later errors are printed, and the watched files stay the same.
    """
    try:
        watched = read()
        shown: object = None
        while True:
            stamps, error = _stamps(watched.looked_at()), None
            try:
                stamps, watched = _read(read, watched)
            except SyncscanError as problem:
                error = problem
            now = str(error) if error else (watched, [stamps[file] for file in watched.files])
            if now != shown:
                _draw(show, watched, error)
                shown = now
            _wait(stamps)
    except KeyboardInterrupt:
        return EXIT_OK


def _read(read: Callable[[], Watched], before: Watched) -> tuple[Stamps, Watched]:
    """Read everything, and the stamps from before the reading, so that no change falls in between."""
    while True:
        stamps = _stamps(before.looked_at())
        watched = read()
        if watched.looked_at() == stamps.keys():
            return stamps, watched
        before = watched


def _draw(show: Callable[[Watched], object], watched: Watched, error: SyncscanError | None) -> None:
    if sys.stdout.isatty():
        click.echo(_CLEAR, nl=False)
    try:
        if error is not None:
            raise error
        show(watched)
    except SyncscanError as problem:
        click.echo(safe_line(f"syncscan: {problem}"), err=True)
    click.echo(f"[{time.strftime('%H:%M:%S')}] Watching for changes; Ctrl-C ends it.")


def _wait(stamps: Stamps) -> None:
    """Block until files have changed and then stayed unchanged for a while."""
    while (now := _look(stamps, _EACH)) == stamps:
        pass
    while (then := _look(now, _QUIET)) != now:
        now = then


def _look(paths: Iterable[Path], after: float) -> Stamps:
    start = time.process_time()
    stamps = _stamps(paths)
    time.sleep(max(after, (time.process_time() - start) / _PART))
    return stamps


def _stamps(paths: Iterable[Path]) -> Stamps:
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
