"""The baseline: accepted findings of a project, which are not reported again, in a file that people merge.

An entry has the file, function, code and normalised expression of a finding, and no line. So the baseline
stays valid if lines shift or a formatter rewrites them. Entries count: the second equal finding in a
function is a new one. Git reports the new name of a renamed file. Without git's report, the entry of a lost file
stands for an equal finding in a file without entries.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import compress
from operator import not_
from pathlib import Path
from typing import Any

from syncscan.check.nesting import deep_recursion, parse
from syncscan.errors import ConfigError
from syncscan.model import Finding
from syncscan.system.files import read_file
from syncscan.system.git import last_commit, renamed_since

FORMAT_VERSION = 1
_LARGEST = 256 << 20

_FIELDS = ("path", "function", "code", "expression")


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """The identity of a finding; the path is relative to the folder of the baseline."""

    path: str
    function: str
    code: str
    expression: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a file, each with the number of findings that the entry accepts."""

    file: Path
    counts: Mapping[BaselineEntry, int]
    revision: str = ""  # the revision from which renames are followed; if "", the file's last commit

    @property
    def total(self) -> int:
        """Return the number of findings that the baseline accepts."""
        return sum(self.counts.values())

    def relative(self, path: Path) -> str:
        """Return a path in the form of the entries."""
        relative = Path(os.path.relpath(path, self.file.parent.resolve())).as_posix()
        return os.fsencode(relative).decode("utf-8", "backslashreplace")

    def text(self) -> str:
        """Return the baseline as JSON, one line for each entry. All lines end alike, so that git merges entries."""
        lines = [
            json.dumps({**dict(zip(_FIELDS, astuple(entry), strict=True)), "count": count})
            for entry, count in sorted(self.counts.items())
        ]
        return "".join(["[\n", *(f"{line},\n" for line in lines), f'{{"version": {FORMAT_VERSION}}}\n]\n'])


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """Findings held against a baseline.

    ``gone`` counts the known findings that are not there any more; ``updated`` has the findings that are
    there, and what this run could not judge.
    """

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    gone: int
    updated: Baseline


def compare(
    baseline: Baseline,
    asked: Sequence[Finding],
    others: Iterable[Finding],
    paths: Mapping[str, Path],
    *,
    whole: Iterable[str],
) -> BaselineComparison:
    """Hold the findings that are asked for against a baseline.

    ``others`` are findings that nobody asked for, whose entries stay good. ``paths`` has the real path of
    every file that findings name, ``whole`` names those in which nothing can have been missed.
    """
    names = {shown: baseline.relative(path) for shown, path in paths.items()}
    entries = [_entry_of(finding, names) for finding in asked]
    left = Counter(baseline.counts)
    known = [_take(left, entry) for entry in entries]
    used_by_others = Counter(e for e in (_entry_of(one, names) for one in others) if _take(left, e))
    moved = _Moved(baseline, left)
    known = [was or moved.takes(entry) for was, entry in zip(known, entries, strict=True)]
    judged = {None, *(names[shown] for shown in whole)}
    left = +left
    gone = Counter({entry: n for entry, n in left.items() if moved.place_of(entry.path) in judged})
    return BaselineComparison(
        tuple(compress(asked, map(not_, known))),
        tuple(compress(asked, known)),
        gone.total(),
        Baseline(baseline.file, Counter(entries) + used_by_others + (left - gone)),
    )


def _entry_of(finding: Finding, names: Mapping[str, str]) -> BaselineEntry:
    return entry_of(names[finding.path], finding.function, finding.code, finding.expression)


def entry_of(path: str, function: str, code: str, expression: str) -> BaselineEntry:
    """Return the entry of a finding by its parts."""
    return BaselineEntry(path, function, code, normalised(expression))


class _Moved:
    """The entries in ``left`` of files that no longer exist, and their new places."""

    def __init__(self, baseline: Baseline, left: Counter[BaselineEntry]) -> None:
        self._left = left
        self._folder = baseline.file.parent.resolve()
        self._files = {entry.path for entry in baseline.counts}
        paths = {entry.path for entry, count in left.items() if count}
        self._gone = {path for path in paths if not (self._folder / path).is_file()}
        renamed = _renamed(baseline) if self._gone else {}
        self._new = {baseline.relative(old): baseline.relative(new) for old, new in renamed.items()}
        self._old = {new: old for old, new in self._new.items() if old in self._gone}
        self._homeless: dict[BaselineEntry, list[BaselineEntry]] = {}
        for lost in sorted(left):
            if left[lost] and lost.path in self._gone and lost.path not in self._new:
                self._homeless.setdefault(replace(lost, path=""), []).append(lost)

    def place_of(self, path: str) -> str | None:
        """Return the present path of a file; None where the file is gone."""
        return self._new.get(path) if path in self._gone else path

    def takes(self, entry: BaselineEntry) -> bool:
        """Return whether an entry of a missing file covers a finding, and use that entry up."""
        if old := self._old.get(entry.path):
            return _take(self._left, replace(entry, path=old))
        if entry.path in self._files:
            return False
        return any(_take(self._left, lost) for lost in self._homeless.get(replace(entry, path=""), ()))


def _renamed(baseline: Baseline) -> Mapping[Path, Path]:
    return renamed_since(baseline.file.parent, baseline.revision or last_commit(baseline.file))


def _take(left: Counter[BaselineEntry], entry: BaselineEntry) -> bool:
    if left[entry] <= 0:
        return False
    left[entry] -= 1
    return True


def normalised(expression: str) -> str:
    """Return an expression as Python would write it, whatever its line ends, quotes, brackets and commas."""
    for form in (f"(\n{expression}\n)", expression):
        try:
            tree = parse(form)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                node.kind = None  # formatters remove the "u" of a string
        with contextlib.suppress(RecursionError), deep_recursion():
            return ast.unparse(tree)
    return " ".join(expression.split())


def read_baseline(file: Path) -> Baseline:
    """Read a file that ``--write-baseline`` wrote; raise ConfigError for a wrong file."""
    try:
        data = json.loads(read_file(file, _LARGEST))
    except FileNotFoundError as error:
        raise ConfigError(f"{file}: no such baseline; --write-baseline {file} makes it") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: no baseline: {error}; --write-baseline {file} makes it anew") from error
    try:
        return Baseline(file, _counts(data))
    except ValueError as error:
        raise ConfigError(f"{file}: no baseline: {error}; --write-baseline {file} makes it anew") from error


def _counts(data: Any) -> dict[BaselineEntry, int]:
    if not isinstance(data, list) or not data or not isinstance(data[-1], dict) or "version" not in data[-1]:
        raise ValueError("it does not end in a version")
    if data[-1]["version"] != FORMAT_VERSION:
        raise ValueError(f"it is of version {data[-1]['version']!r}, and this is version {FORMAT_VERSION}")
    counts: dict[BaselineEntry, int] = {}
    for number, item in enumerate(data[:-1], 1):
        entry, count = _entry(item, number)
        counts[entry] = max(count, counts.get(entry, 0))  # a merge of two branches may hold an entry twice
    return counts


def _entry(item: Any, number: int) -> tuple[BaselineEntry, int]:
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in _FIELDS):
        raise ValueError(f"entry {number} lacks one of {', '.join(_FIELDS)}")
    count = item.get("count")
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"entry {number} has no count from 1 on")
    return BaselineEntry(*(item[name] for name in _FIELDS)), count
