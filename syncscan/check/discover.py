"""Paths on the command line to the project that they belong to: what to index, and what to report on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pathspec

from syncscan.check import notebook
from syncscan.check.files import (
    Source,
    SourceError,
    check_kind,
    forget_packages,
    is_named_in_full,
    is_outside,
    is_package,
    module_name,
    package_top,
    read_source,
    shown,
)
from syncscan.config import Config, read_patterns
from syncscan.model import Failure

_PROJECT_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_VENV_MARKERS = ("pyvenv.cfg", "conda-meta")
_SUFFIXES = (".py", notebook.SUFFIX)
_SKIPPED_NAMES = frozenset({"__pycache__", "node_modules"})

Levels = tuple[tuple[str, pathspec.GitIgnoreSpec], ...]  # the .gitignore of each folder, outermost first


@dataclass(frozen=True, slots=True)
class Project:
    """The files to index, the files to report on (None: all), and the unreadable files."""

    sources: tuple[Source, ...]
    targets: frozenset[str] | None
    failures: tuple[Failure, ...] = ()
    skipped: int = 0  # files that were named, and that `exclude` excludes
    folders: frozenset[Path] = frozenset()  # folders that were searched
    packages: frozenset[str] = frozenset()  # the files, as shown, of installed packages among the sources
    is_cut: bool = False  # the project needs more of them than is read

    @property
    def package_names(self) -> tuple[str, ...]:
        """The names of the installed packages among the sources."""
        names = {source.module.partition(".")[0] for source in self.sources if source.shown in self.packages}
        return tuple(sorted(names))

    @property
    def modules(self) -> frozenset[str]:
        """The names of the project's own modules."""
        return frozenset(source.module for source in self.sources if source.shown not in self.packages)

    def has_module(self, name: str) -> bool:
        """Return whether a module of the project has a name, perhaps behind folders without ``__init__.py``."""
        return name in self.modules or any(is_named_in_full(s.module, s.path, name) for s in self.sources)

    def share(self, number: int, count: int) -> Project:
        """Return the project with one of ``count`` shares of the files to report on, from 1 on; the check still reads all files."""
        failed = {failure.path for failure in self.failures}
        checked = {source.shown for source in self.sources} if self.targets is None else self.targets
        mine = frozenset(sorted(failed | checked)[number - 1 :: count])
        failures = tuple(failure for failure in self.failures if failure.path in mine)
        return replace(self, targets=mine & checked, failures=failures, skipped=self.skipped * (number == 1))


@dataclass(slots=True)
class _Found:
    """Files by real path, each with the root of its module name; and the failures.

    ``links`` maps files that only a symbolic link leads to, to the link.
    """

    files: dict[Path, Path] = field(default_factory=dict)
    links: dict[Path, Path] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    folders: set[Path] = field(default_factory=set)

    def add(self, path: Path, root: Path, link: Path | None = None) -> None:
        """Add a file, or the symbolic link that leads to a file not found itself."""
        if link is None:
            self.links.pop(path, None)
        elif path not in self.files:
            self.links[path] = link
        self.files.setdefault(path, root)

    def leave_out(self, others: _Found, *, tests: bool) -> None:
        """Remove the files that are also in another set, and tests and the like on request."""
        self.files = {
            path: root
            for path, root in self.files.items()
            if path not in others.files and not (tests and is_outside(module_name(path, root)))
        }

    def fail(self, path: Path, message: str, line: int = 0, *, partial: bool = False) -> None:
        self.failures.append(Failure(shown(path), line, message, partial))


def load_project(
    paths: Sequence[Path], config: Config, contents: Mapping[Path, bytes] | None = None
) -> Project:
    """Read the files that ``paths`` name, and the rest of the projects that they belong to.

    A folder that is not inside a package is a project of its own. A file, or a folder inside a package,
    belongs to the project around it. The tests of that project are read for other tests only.
    ``contents`` stands in for files on disk (standard input).
    """
    contents = contents or {}
    forget_packages()
    wanted, rest = _Found(), _Found()
    skipped = 0
    links = _links(paths)
    for path in dict.fromkeys(_real(path) for path in paths):
        if config.excludes(path, folder=path.is_dir()):
            skipped += 1
        elif path.is_dir():
            _find_folder(path, config, wanted, rest)
        elif _is_of_a_kind(path, contents, wanted):
            root = project_root(path)
            wanted.add(path, root or path.parent, links.get(path))
            wanted.files[path] = root or path.parent  # overrides the root of an earlier find
            if root:
                _find(root, root, config, rest)
    sources = _read(wanted, contents)
    targets = frozenset(source.shown for source in sources)
    reads_tests = any(is_outside(source.module) for source in sources)
    rest.leave_out(wanted, tests=not reads_tests)
    others = _read(rest, contents)
    everything = tuple(sorted((*sources, *others), key=lambda source: source.shown))
    failures = tuple(sorted(wanted.failures, key=lambda failure: failure.path))
    folders = frozenset(wanted.folders | rest.folders)
    return Project(everything, targets if others else None, failures, skipped, folders)


def _is_of_a_kind(path: Path, contents: Mapping[Path, bytes], wanted: _Found) -> bool:
    try:
        if path not in contents:
            check_kind(path)
    except SourceError as error:
        wanted.fail(path, str(error))
        return False
    except OSError:
        return True  # reading the file reports the error
    return True


def project_of_text(path: Path, data: bytes) -> Project:
    """Return a project of one file that is nowhere on disk: what standard input gave."""
    try:
        return Project((read_source(path, path.parent, {path: data}),), None)
    except SourceError as error:
        return Project((), None, (Failure(shown(path), error.line, str(error)),))


def _real(path: Path) -> Path:
    """Return the real path; for a symlink that leads nowhere, the link's own path."""
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a symlink loop before Python 3.13
        return Path.cwd() / path


def _links(paths: Sequence[Path]) -> dict[Path, Path]:
    """Return the files that only symbolic links name, each with the link."""
    named = {_real(path) for path in paths if not path.is_symlink()}
    return {real: path for path in paths if path.is_symlink() and (real := _real(path)) not in named}


def _find_folder(folder: Path, config: Config, wanted: _Found, rest: _Found) -> None:
    inside = is_package(folder) and is_package(folder.parent)
    root = (project_root(folder) if inside else None) or folder
    _find(folder, root.parent if is_package(root) else root, config, wanted)
    if root != folder:
        _find(root, root, config, rest)


def project_root(path: Path) -> Path | None:
    """Return the nearest folder above that looks like a project, else the outermost package; None where neither is.

    A home folder kept under git is no project.
    """
    for folder in path.parents:
        if folder != Path.home() and any((folder / marker).exists() for marker in _PROJECT_MARKERS):
            return folder
    return package_top(path.parent) if is_package(path.parent) else None


def _find(folder: Path, root: Path, config: Config, found: _Found) -> None:
    levels = _enclosing_levels(folder)
    if levels and _ignored(f"{folder}/", levels):
        levels = ()  # named in spite of a .gitignore around it
    links: list[Path] = []
    for path in _walk(folder, levels, config, found, links):
        found.add(path, root)
    for link in links:
        found.add(link.resolve(), root, link)


def _walk(folder: Path, levels: Levels, config: Config, found: _Found, links: list[Path]) -> Iterator[Path]:
    """Yield the Python files below a folder, in order; symlinks to files go to ``links``."""
    found.folders.add(folder)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        found.fail(folder, f"cannot be listed: {error.strerror or error}")
        return
    if any(entry.name in _VENV_MARKERS for entry in entries):
        return
    levels = (*levels, *_own_level(folder))
    for entry in entries:
        path = folder / entry.name
        if entry.is_symlink():
            _follow(path, levels, config, found, links)
        elif entry.is_dir():
            if not _passes_over(path, levels, config):
                yield from _walk(path, levels, config, found, links)
        elif entry.name.endswith(_SUFFIXES) and not _left_out(path, "", levels, config):
            yield path


def _passes_over(folder: Path, levels: Levels, config: Config) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _SKIPPED_NAMES
    return hidden or _is_built(folder) or _left_out(folder, "/", levels, config)


def _is_built(folder: Path) -> bool:
    """Return whether setuptools built a package in a folder, ``build/lib`` or ``build/lib.linux-x86_64``: its files are copies of others."""
    build = folder.parent
    is_named_so = build.name == "build" and folder.name.partition(".")[0] == "lib"
    return is_named_so and not is_package(folder) and not is_package(build) and not any(build.glob("*.py"))


def _left_out(path: Path, suffix: str, levels: Levels, config: Config) -> bool:
    return _ignored(f"{path}{suffix}", levels) or config.excludes(path, folder=bool(suffix))


def _follow(link: Path, levels: Levels, config: Config, found: _Found, links: list[Path]) -> None:
    """Add a symlink to a file; skip a symlink to a folder, and report a symlink that leads back or nowhere."""
    if _left_out(link, "", levels, config) or link.name.startswith("."):
        return
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        if link.suffix in _SUFFIXES:
            found.fail(link, f"is a symlink that leads nowhere: {link.readlink()}")
        return
    if target.is_dir() and link.is_relative_to(target):
        found.fail(link, "is a symlink to a folder around it; not followed")
    elif target.is_file() and link.suffix in _SUFFIXES:
        links.append(link)


def _own_level(folder: Path) -> Levels:
    file = folder / ".gitignore"
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    return ((f"{folder}/", read_patterns(tuple(lines))[0]),)  # git skips a bad line too


def _enclosing_levels(folder: Path) -> Levels:
    """Return the .gitignore files above a folder, up to the top of its repository."""
    levels: Levels = ()
    for parent in (folder, *folder.parents):
        if parent != folder:
            levels = (*_own_level(parent), *levels)
        if (parent / ".git").exists():
            return levels
    return ()


def _ignored(path: str, levels: Levels) -> bool:
    """Return git's verdict: the innermost .gitignore that matches a path decides."""
    for base, spec in reversed(levels):
        verdict = spec.check_file(path[len(base) :]).include
        if verdict is not None:
            return verdict
    return False


def _read(found: _Found, contents: Mapping[Path, bytes]) -> list[Source]:
    sources = []
    for path, root in found.files.items():
        try:
            source = read_source(path, root, contents)
            link = found.links.get(path)
            sources.append(replace(source, link=shown(link.absolute())) if link else source)
        except SourceError as error:
            found.fail(path, str(error), error.line)
        else:
            for line, message in source.broken:
                found.fail(path, message, line, partial=True)
    return sources
