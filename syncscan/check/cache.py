"""Results on disk: the check of an unchanged project is not computed twice.

An entry is named after everything that determines a result: the content of every file that is read, the settings, and the
program itself. So an entry is never out of date, only unused. An entry holds data alone. A damaged or foreign file counts
as a missing entry.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import syncscan
from syncscan.check.files import Source
from syncscan.check.persistence.findings import each, finding_of, parts, plain
from syncscan.check.result import CheckResult, FactsUsed
from syncscan.config import Config
from syncscan.facts import FactSet
from syncscan.model import Conventions, Failure
from syncscan.system.files import read_file

_MOST_BYTES = 256 * 1024 * 1024  # of all entries together; the oldest entries are evicted
_MOST_OF_ONE = 64 * 1024 * 1024
_UNFINISHED = 3600  # seconds after which an unfinished entry is garbage
_ENTRY = re.compile(r"[0-9a-f]{64}\.(result|proof|libraries|walks|state|last|[a-z0-9_]+\.new)")
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds results of syncscan; it may be removed.\n"


def default_folder() -> Path | None:
    """Return the folder that SYNCSCAN_CACHE_DIR names, or the user's cache folder; None where there is no home."""
    if named := os.environ.get("SYNCSCAN_CACHE_DIR"):
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "syncscan"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "syncscan" / "Cache"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else home / ".cache") / "syncscan"


def key_of(
    sources: Sequence[Source],
    conventions: Conventions,
    hot: Sequence[str],
    operations: Mapping[str, Any],
    facts: str = "",
    sync_free: Sequence[str] = (),
) -> str:
    """Return the name of the entry for a project."""
    digest = hashlib.sha256(_program())
    digest.update(json.dumps([astuple(conventions), list(hot), operations, facts, list(sync_free)]).encode())
    for source in sorted(sources, key=_shown):
        content = hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
        digest.update(json.dumps([source.shown, source.module, source.path.stem, content]).encode())
    return digest.hexdigest()


def key_of_result(sources: Sequence[Source], config: Config, facts: FactSet | None) -> str:
    """Return the name of a result in the store."""
    told = facts.text() if facts else ""
    return key_of(sources, config.conventions, config.hot, config.operations, told, config.sync_free)


def key_of_proof(result: str, *rest: object) -> str:
    """Return the name of the entry for a certificate: the name of the result that the proof rests on, and all else as data."""
    return hashlib.sha256(json.dumps([result, *rest]).encode()).hexdigest()


def key_of_libraries(names: Sequence[str]) -> str:
    """Return the name of the entry for what files need of packages: from the names, contents and folders that decide it."""
    return hashlib.sha256(_program() + json.dumps([*names]).encode()).hexdigest()


def key_of_state(
    sources: Sequence[Source],
    conventions: Conventions,
    operations: Mapping[str, Any],
) -> str:
    """Return the name of the entry for a project's state: from its root and file names, not from the contents."""
    digest = hashlib.sha256(key_of_place(conventions, operations).encode())
    for source in sorted(sources, key=_shown):
        digest.update(json.dumps([source.shown, source.module, source.path.stem]).encode())
    return digest.hexdigest()


def key_of_place(conventions: Conventions, operations: Mapping[str, Any]) -> str:
    """Return the name of the entry for the last project checked in the working folder, whatever its files are."""
    digest = hashlib.sha256(_program())
    digest.update(json.dumps([str(Path.cwd()), astuple(conventions), operations]).encode())
    return digest.hexdigest()


def _shown(source: Source) -> str:
    return source.shown


@functools.cache
def _program() -> bytes:
    """Return a key of this program's files and parsers: another key may mean other results.

    Every installation of the same files has the same key, because jobs of continuous integration install anew.
    """
    folders = [Path(import_module(name).__path__[0]) for name in ("syncscan", "syncscan.rules")]
    files = {
        (str(number), path.relative_to(folder).as_posix()): hashlib.sha256(path.read_bytes()).hexdigest()
        for number, folder in enumerate(folders)
        for path in folder.rglob("*")
        if path.suffix in {".py", ".toml"}
    }
    return json.dumps([syncscan.__version__, version("libcst"), sys.version, sorted(files.items())]).encode()


def _digest(key: str, sort: str, body: bytes) -> bytes:
    """Return the digest that proves an entry complete and of this name."""
    name = key if sort == "result" else f"{key}.{sort}"
    return hashlib.sha256(name.encode() + body).hexdigest().encode()


class Store:
    """A folder of results; one that cannot be read or written is as good as empty."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left: list[tuple[str, str, Callable[[], bytes | None], str]] = []  # results to be written

    def read(self, key: str) -> CheckResult | None:
        """Return the result stored under a name, if the entry is intact."""
        body = self._get(key, "result")
        try:
            return None if body is None else _result(json.loads(body))
        except (ValueError, RecursionError):
            return None

    def write(self, key: str, result: CheckResult) -> None:
        """Keep a result, whole or not at all; where that fails, there is none."""
        data = [
            [plain(f) for f in result.findings],
            [list(astuple(f)) for f in result.failed],
            list(astuple(result.facts)),
        ]
        self._keep(key, "result", json.dumps(data).encode())

    def read_proof(self, key: str) -> object:
        """Return the data of a certificate stored under a name, if the entry is intact; else None."""
        return self._read_data(key, "proof")

    def write_proof(self, key: str, data: object) -> None:
        """Store the data of a certificate, as `write` stores results."""
        self._keep(key, "proof", json.dumps(data).encode())

    def read_libraries(self, key: str) -> object:
        """Return what files need of packages, stored under a name, if the entry is intact; else None."""
        return self._read_data(key, "libraries")

    def write_libraries(self, key: str, data: object) -> None:
        """Store what files need of packages, as `write` stores results."""
        self._keep(key, "libraries", json.dumps(data).encode())

    def read_state(self, key: str, place: str, sort: str = "state") -> bytes | None:
        """Return the state of a project under a name, see `syncscan.check.persistence.state`, if the file is undamaged.

        Without a state of that name, return the last one of the same ``place``, which has most of the files. The walks
        of a proof are another ``sort`` of state.
        """
        self.finish()
        state = self._get(key, sort)
        if state is None and (last := self._get(place, "last")) is not None:
            state = self._get(last.decode("ascii", "replace"), sort)
        return state

    def write_state(
        self, key: str, place: str, state: Callable[[], bytes | None], sort: str = "state"
    ) -> None:
        """Store the state of a project, as `write` stores results, but not before `finish`: the state is large."""
        self._left.append((key, place, state, sort))

    def finish(self) -> None:
        """Write the pending states."""
        while self._left:
            key, place, known, sort = self._left.pop()
            state = known()
            if state is not None:
                self._keep(key, sort, state)
                self._keep(place, "last", key.encode())

    def _get(self, key: str, sort: str) -> bytes | None:
        path = self._folder / f"{key}.{sort}"
        try:
            digest, _, body = read_file(path, _MOST_OF_ONE).partition(b"\n")
        except (OSError, ValueError):
            return None
        if _digest(key, sort, body) != digest:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the entry is one of the newest again
        return body

    def _read_data(self, key: str, sort: str) -> object:
        body = self._get(key, sort)
        try:
            return None if body is None else json.loads(body)
        except (ValueError, RecursionError):
            return None

    def _keep(self, key: str, sort: str, body: bytes) -> None:
        if len(body) >= _MOST_OF_ONE:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._put("CACHEDIR.TAG", _TAG.encode())
            self._put(f"{key}.{sort}", _digest(key, sort, body) + b"\n" + body)
            self._make_room()

    def clean(self) -> int:
        """Remove the store's own files, and return the number of bytes freed; OSError where that fails."""
        freed = 0
        for entry, status in self._entries():
            entry.unlink(missing_ok=True)
            freed += status.st_size
        if self._folder.is_dir():
            (self._folder / "CACHEDIR.TAG").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # foreign files stay
                self._folder.rmdir()
        return freed

    def _put(self, name: str, data: bytes) -> None:
        handle, unfinished = tempfile.mkstemp(
            ".new", f"{hashlib.sha256(name.encode()).hexdigest()}.", self._folder
        )
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(unfinished).replace(self._folder / name)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(unfinished).unlink()
            raise

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            if _ENTRY.fullmatch(path.name):
                with contextlib.suppress(FileNotFoundError):  # another run was faster
                    yield path, path.lstat()

    def _make_room(self) -> None:
        """Remove the oldest entries beyond the bound, and unfinished entries of runs that were killed."""
        room = _MOST_BYTES
        for path, status in sorted(self._entries(), key=lambda entry: -entry[1].st_mtime):
            room -= status.st_size
            is_old = path.suffix == ".new" and status.st_mtime < time.time() - _UNFINISHED
            if is_old or (room < 0 and path.suffix != ".new"):
                path.unlink(missing_ok=True)


def _result(data: object) -> CheckResult:
    findings, failed, facts = parts(data, list, list, list)
    return CheckResult(
        [finding_of(finding) for finding in findings],
        [Failure(*failure) for failure in each(failed, str, int, str, bool, str, int)],
        FactsUsed(*parts(facts, int, int)),
    )
