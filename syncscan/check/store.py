"""Results kept on disk: what a project as it is gives is not worked out twice.

An entry is named after all that a result rests on: the content of every file that is read, the settings, and the
program itself. So it is never out of date, only unused. It is data and nothing else, and what is damaged, or was
written by something else, is passed over as if it were not there.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import syncscan
from syncscan.check.files import Source
from syncscan.check.matching import CheckResult, FactsUsed
from syncscan.files import read_file
from syncscan.model import (
    Applicability,
    Confidence,
    Conventions,
    Edit,
    Evidence,
    Failure,
    Finding,
    Fix,
    When,
)

_MOST_BYTES = 256 * 1024 * 1024  # of all entries together; the oldest make room
_MOST_OF_ONE = 64 * 1024 * 1024
_UNFINISHED = 3600  # seconds after which nobody finishes an entry any more
_ENTRY = re.compile(r"[0-9a-f]{64}\.(result|[a-z0-9_]+\.new)")
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds results of syncscan; it may be removed.\n"


def default_folder() -> Path | None:
    """Where the platform keeps what programs can make again; None where there is no home."""
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
) -> str:
    """The name of the entry for a project."""
    digest = hashlib.sha256(_program())
    digest.update(json.dumps([astuple(conventions), list(hot), operations, facts]).encode())
    for source in sources:
        content = hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
        digest.update(json.dumps([source.shown, source.module, source.path.stem, content]).encode())
    return digest.hexdigest()


@functools.cache
def _program() -> bytes:
    """What tells this program apart from one that may give other results: its files, and what it parses with."""
    folders = [Path(import_module(name).__path__[0]) for name in ("syncscan", "syncscan.rules")]
    files = sorted(
        path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".toml"}
    )
    states = [(str(path), (status := path.stat()).st_size, status.st_mtime_ns) for path in files]
    return json.dumps([syncscan.__version__, version("libcst"), sys.version, states]).encode()


class Store:
    """A folder of results; one that cannot be read or written is as good as empty."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> CheckResult | None:
        """The result that was kept under a name, if it is as it was written."""
        path = self._folder / f"{key}.result"
        try:
            digest, _, body = read_file(path, _MOST_OF_ONE).partition(b"\n")
            if hashlib.sha256(key.encode() + body).hexdigest().encode() != digest:
                return None
            result = _result(json.loads(body))
        except (OSError, ValueError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # it is one of the newest again
        return result

    def write(self, key: str, result: CheckResult) -> None:
        """Keep a result, whole or not at all; where that fails, there is none."""
        body = json.dumps(
            [
                [_plain(f) for f in result.findings],
                [list(astuple(f)) for f in result.failed],
                list(astuple(result.facts)),
            ]
        ).encode()
        digest = hashlib.sha256(key.encode() + body).hexdigest().encode()
        if len(body) >= _MOST_OF_ONE:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._put("CACHEDIR.TAG", _TAG.encode())
            self._put(f"{key}.result", digest + b"\n" + body)
            self._make_room()

    def clean(self) -> int:
        """Remove all that was kept, and nothing else; how many bytes that frees. OSError where that fails."""
        freed = 0
        for entry, status in self._entries():
            entry.unlink(missing_ok=True)
            freed += status.st_size
        if self._folder.is_dir():
            (self._folder / "CACHEDIR.TAG").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # what is not ours stays
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
        """Remove the oldest entries beyond the bound, and those that a run left that did not end."""
        room = _MOST_BYTES
        for path, status in sorted(self._entries(), key=lambda entry: -entry[1].st_mtime):
            room -= status.st_size
            is_old = path.suffix == ".new" and status.st_mtime < time.time() - _UNFINISHED
            if is_old or (room < 0 and path.suffix != ".new"):
                path.unlink(missing_ok=True)


_TEXTS = ("code", "name", "path", "function", "expression", "message")
_NUMBERS = ("line", "column", "end_line", "end_column")


def _plain(finding: Finding) -> list[Any]:
    fix = finding.fix
    return [
        [getattr(finding, name) for name in _TEXTS],
        [getattr(finding, name) for name in _NUMBERS],
        int(finding.confidence),
        finding.when.value,
        list(finding.call_chain),
        [[step.path, step.line, step.text] for step in finding.evidence],
        [fix.applicability.value, fix.description, [list(astuple(edit)) for edit in fix.edits]],
    ]


def _parts(data: object, *types: type) -> list[Any]:
    """The parts of a list in an entry, each of its type; ValueError where they are not."""
    if not isinstance(data, list) or tuple(map(type, data)) != types:
        raise ValueError("not what was written")
    return data


def _each(data: list[Any], *types: type) -> list[list[Any]]:
    return [_parts(part, *types) for part in data]


def _result(data: object) -> CheckResult:
    findings, failed, facts = _parts(data, list, list, list)
    each = _each(failed, str, int, str, bool, str, int)
    return CheckResult(
        [_finding(finding) for finding in findings],
        [Failure(*failure) for failure in each],
        FactsUsed(*_parts(facts, int, int)),
    )


def _finding(data: object) -> Finding:
    texts, numbers, confidence, when, chain, evidence, fix = _parts(
        data, list, list, int, str, list, list, list
    )
    return Finding(
        **dict(zip(_TEXTS, _parts(texts, *[str] * len(_TEXTS)), strict=True)),
        **dict(zip(_NUMBERS, _parts(numbers, *[int] * len(_NUMBERS)), strict=True)),
        confidence=Confidence(confidence),
        when=When(when),
        call_chain=tuple(_parts(chain, *[str] * len(chain))),
        evidence=_evidence(_each(evidence, str, int, str)),
        fix=_fix(fix),
    )


def _evidence(steps: list[list[Any]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(path, line, text) for path, line, text in steps)


def _fix(data: object) -> Fix:
    applicability, description, edits = _parts(data, str, str, list)
    each = _each(edits, int, int, int, int, str)
    return Fix(Applicability(applicability), description, tuple(Edit(*edit) for edit in each))
