"""Sources of the installed packages that a project imports, with what it needs of them alone.

To find what is needed takes longer than to read it, so the answer is kept: by the files that import packages, and for as long as the
files of the packages stay what they were.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from syncscan.check.cache import Store, key_of_libraries
from syncscan.check.discover import Project
from syncscan.check.files import Source, SourceError, decode, normalise, read_bytes, shown
from syncscan.check.libraries.environment import package_folders
from syncscan.check.libraries.module import LibraryModule, with_lines
from syncscan.check.libraries.needed import Needed
from syncscan.check.nesting import parse
from syncscan.config import Config
from syncscan.ops import stubs

_MOST_KNOWN = 8  # answers that are kept in memory
_IMPORT = re.compile(r"import\b((?:\\\n|[^\n;#])*)")


class Answer(NamedTuple):
    """The lines that are needed of files of packages, with the path and module of each, and all that decided it.

    ``places`` has the files that were read, and those that were looked for in vain, each with its stamp.
    """

    places: list[tuple[str, list[int] | None]]
    files: list[tuple[str, str, list[tuple[int, int]]]]
    is_cut: bool  # there are more lines than are read

    @property
    def is_current(self) -> bool:
        """True if each file is still the same, or still missing."""
        return all(_stamp(Path(path)) == stamp for path, stamp in self.places)


class Libraries:
    """The installed packages of projects; ``store`` keeps between runs what projects need of them."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._known: dict[str, Answer] = {}

    def added_to(self, project: Project, config: Config) -> Project:
        """Return a project with the sources of packages that it needs, on which nothing is reported."""
        more, is_cut = self._sources(project.sources, config)
        if not more:
            return project
        shown_files = frozenset(source.shown for source in project.sources)
        targets = shown_files if project.targets is None else project.targets
        packages = frozenset(source.shown for source in more)
        return replace(
            project, sources=(*project.sources, *more), targets=targets, packages=packages, is_cut=is_cut
        )

    def _sources(self, project: Sequence[Source], config: Config) -> tuple[Sequence[Source], bool]:
        """Return what a project needs of packages, each file with other lines left empty, and whether it needs more than is read."""
        folders = package_folders(config.environment, config.root)
        users = _importing(project, folders)
        if not users:
            return (), False
        followed = frozenset().union(*users.values())
        place = [*map(str, folders), *sorted(followed)]
        answer = self._kept(
            key_of_libraries([*place, *map(_text_of, users)]),
            lambda: self._needed([*users], folders, place, followed),
        )
        taken = {source.path for source in project}
        files = ((Path(path), name, ranges) for path, name, ranges in answer.files)
        found = (_source(path, name, ranges) for path, name, ranges in files if path.resolve() not in taken)
        return [source for source in found if source is not None], answer.is_cut

    def _needed(
        self, users: Sequence[Source], folders: Sequence[Path], place: Sequence[str], followed: frozenset[str]
    ) -> Answer:
        needed = Needed(folders, followed.__contains__)
        for source in users:
            try:
                body = parse(source.text).body
            except (SyntaxError, ValueError, RecursionError):
                continue
            needed.follow(LibraryModule(source.module, source.path, source.text, body))
        return self._kept(key_of_libraries([*place, *needed.start]), lambda: _read(needed))

    def _kept(self, key: str, find: Callable[[], Answer]) -> Answer:
        """Return the answer under a name, if it still holds; else find it anew."""
        found = self._known.get(key)
        if found is None and self._store is not None:
            found = _answer_of(self._store.read_libraries(key))
        if found is None or not found.is_current:
            found = find()
            if self._store is not None:
                self._store.write_libraries(key, found)
        self._known = dict([*[*self._known.items()][-_MOST_KNOWN:], (key, found)])
        return found


def _answer_of(data: Any) -> Answer | None:
    """Return the answer that the store has as data; None where the data have another form."""
    try:
        places, files, is_cut = data
        return Answer(
            [(str(path), stamp) for path, stamp in places],
            [(str(path), str(name), [(int(a), int(b)) for a, b in ranges]) for path, name, ranges in files],
            bool(is_cut),
        )
    except (TypeError, ValueError):
        return None


def _importing(project: Sequence[Source], folders: Sequence[Path]) -> dict[Source, frozenset[str]]:
    """Return the files that may import packages in some folders, each with the names of those packages."""
    known = {source.module for source in project} | _LEFT_OUT
    is_package = functools.cache(lambda name: stubs.is_read(name) and _is_in(folders, name))
    users = {
        source: frozenset(
            name
            for name in _imported(source.text) - known
            if is_package(name) and not _is_beside(source, name)
        )
        for source in (project if folders else ())
    }
    return {source: names for source, names in users.items() if names}


def _imported(text: str) -> set[str]:
    """Return the top-level names of what a text may import, and perhaps others: to parse the text would take ten times as long."""
    found = set[str]()
    for match in _IMPORT.finditer(text):
        start = text.rfind("\n", 0, match.start())
        while start > 0 and text[start - 1] == "\\":
            start = text.rfind("\n", 0, start)
        before = text[start + 1 : match.start()].replace("\\\n", " ")
        words = before[max(before.rfind(";"), before.rfind(":")) + 1 :].split()
        imported = words[1:2] if words[:1] == ["from"] else match[1].split(",") if not words else ()
        found.update(name.strip(" \t\\\n").partition(" ")[0].partition(".")[0] for name in imported)
    return {name for name in found if name.isidentifier()}


def _is_beside(source: Source, name: str) -> bool:
    """Return whether a file can import a module of a name from its own folder, which comes first."""
    beside = source.path.parent / name
    return beside.with_name(f"{name}.py").is_file() or (beside / "__init__.py").is_file()


# Python itself is no package, and the check knows these by their names.
_LEFT_OUT = frozenset(
    {"torch", "triton", "jaxtyping", "torchtyping", "typing_extensions", *sys.stdlib_module_names}
)


def _is_in(folders: Iterable[Path], name: str) -> bool:
    return any(_stamp(folder / file) is not None for folder in folders for file in (name, f"{name}.py"))


def _read(needed: Needed) -> Answer:
    needed.read()
    return Answer(
        [(str(path), _stamp(path)) for path in needed.places],
        [(str(module.path), module.name, module.ranges()) for module in needed.modules],
        needed.is_cut,
    )


def _text_of(source: Source) -> str:
    return json.dumps(
        [
            source.module,
            str(source.path),
            hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest(),
        ]
    )


def _stamp(path: Path) -> list[int] | None:
    """Return what changes with the content of a file; None where there is no file, or none that may be read."""
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _source(path: Path, name: str, ranges: Iterable[Sequence[int]]) -> Source | None:
    try:
        text = normalise(decode(read_bytes(path))[0])
    except SourceError:  # removed meanwhile
        return None
    return Source(path, shown(path), name, with_lines(text, [(first, last) for first, last in ranges]))
