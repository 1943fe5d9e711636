"""Findings against a run: findings that blocked, findings that ran without blocking, and synchronizations without a finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from syncscan.errors import SyncscanError
from syncscan.model import Finding
from syncscan.system.files import read_file
from syncscan.trace.lines import ran
from syncscan.trace.shape import Mismatch, integer, list_of, parse, record, text

CONFIRMED = "confirmed"
SILENT = "ran and did not block"
NEVER_RAN = "never ran"
NOT_SEEN = "not seen to block"  # and nobody recorded whether it ran
STATUSES = (CONFIRMED, SILENT, NEVER_RAN, NOT_SEEN)
MAX_BYTES = 128 * 1024 * 1024  # of the JSON of a check

Trace = dict[str, Any]
Row = dict[str, Any]
_PLACE = ("code", "path", "line", "column", "end_line", "end_column", "function", "expression", "confidence")
_CHECK = record(
    version=integer,
    files=record(checked=integer),
    findings=list_of(
        record(
            code=text,
            path=text,
            line=integer,
            column=integer,
            end_line=integer,
            end_column=integer,
            function=text,
            expression=text,
            confidence=text,
            fix=record(applicability=text, description=text),
        )
    ),
)


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one rule or folder: its findings that blocked and that ran, its synchronizations, found and all."""

    confirmed: int = 0
    ran: int = 0
    predicted: int = 0
    waits: int = 0

    @property
    def precision(self) -> float | None:
        """Return the share of findings on lines that ran that blocked."""
        return self.confirmed / self.ran if self.ran else None

    @property
    def recall(self) -> float | None:
        """Return the share of blocking lines that lie in a finding."""
        return self.predicted / self.waits if self.waits else None


@dataclass
class Compared:
    """Each finding with its ``status``, ``count`` and ``blocked_ns``; each line that blocked, ``predicted`` or not.

    Both have the longest blocked first. ``outside`` counts synchronizations in files that the check did not read.
    """

    findings: list[Row]
    waits: list[Row]
    knows_lines: bool
    outside: int = 0
    whole: Score = field(default_factory=Score)
    by_rule: dict[str, Score] = field(default_factory=dict)
    by_folder: dict[str, Score] = field(default_factory=dict)

    def count(self, status: str) -> int:
        """Return how many findings have a status."""
        return sum(row["status"] == status for row in self.findings)


def read_check(path: Path) -> list[Row]:
    """Return the findings in the output of `syncscan check --output-format json`; raise SyncscanError for another file."""
    try:
        value = parse(read_file(path, MAX_BYTES))
    except OSError as error:
        raise SyncscanError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except Mismatch as error:
        raise SyncscanError(f"{path}: {error}; make it with `syncscan check --output-format json`") from None
    try:
        check = _CHECK(value)
    except Mismatch as error:
        raise SyncscanError(f"{path}: not the JSON of `syncscan check`: {error}") from None
    if not check["files"]["checked"]:
        raise SyncscanError(f"{path}: the check read no file; run it again on the sources that were traced")
    return [_row(finding) for finding in check["findings"]]


def rows_of(findings: Iterable[Finding]) -> list[Row]:
    """Return the same of findings."""
    return [
        {name: getattr(finding, name) for name in _PLACE}
        | {
            "confidence": finding.confidence.label,
            "fix": finding.fix.applicability.value,
            "instead": finding.fix.description,
        }
        for finding in findings
    ]


def _row(finding: Row) -> Row:
    fix = finding["fix"]
    return {name: finding[name] for name in _PLACE} | {
        "fix": fix["applicability"],
        "instead": fix["description"],
    }


def compare(findings: Sequence[Row], trace: Trace, folder: Path) -> Compared:
    """Hold findings, whose paths are relative to a folder, against a trace."""
    shown = shown_paths(folder, {row["path"] for row in findings})
    sites = [site for site in trace["sites"] if site["allowed"] is None]
    waits, outside = _synchronized(sites, shown)
    lines = _lines(trace["lines"], shown) if trace["lines"] is not None else None
    by_path: dict[str, list[Row]] = {}
    for wait in waits:
        wait["predicted"] = False
        by_path.setdefault(wait["path"], []).append(wait)
    judged = [_with_status(row, by_path.get(row["path"], ()), lines) for row in findings]
    judged.sort(key=lambda row: (-row["blocked_ns"], -row["count"], STATUSES.index(row["status"])))
    compared = Compared(judged, waits, lines is not None, outside)
    compared.whole = _score(judged, waits)
    compared.by_rule = _scores(judged, waits, lambda row: str(row["code"] or "-"))
    compared.by_folder = _scores(judged, waits, lambda row: str(PurePath(row["path"]).parent))
    return compared


def shown_paths(folder: Path, checked: set[str]) -> Callable[[str], str | None]:
    """Return the function that maps a file of a trace to its path in the check; None for a file that was not checked.

    A trace of another machine or of an installed package has another path to it: the end of it counts.
    """
    known: dict[str, str | None] = {}

    def shown(path: str) -> str | None:
        if path not in known:
            known[path] = _shown(PurePath(path), folder, checked)
        return known[path]

    return shown


def _shown(path: PurePath, folder: Path, checked: set[str]) -> str | None:
    if path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    for start in range(1, len(path.parts) - 1):
        end = PurePath(*path.parts[start:]).as_posix()
        if end in checked or (folder / end).is_file():
            return end
    return path.as_posix() if path.as_posix() in checked else None


def _synchronized(sites: Iterable[Row], shown: Callable[[str], str | None]) -> tuple[list[Row], int]:
    """Return the lines that synchronized, and the count of sites in files that were not checked."""
    waits: dict[tuple[str, int, str | None], Row] = {}
    outside = 0
    for site in sites:
        path = shown(site["path"]) if site["line"] else None
        if path is None:
            outside += 1
            continue
        wait = waits.setdefault(
            (path, site["line"], site["code"]),
            {name: site[name] for name in ("line", "end_line", "function", "expression", "code")}
            | {"path": path, "count": 0, "blocked_ns": 0},
        )
        wait["count"] += site["count"]
        wait["blocked_ns"] += site["blocked_ns"]["total"]
    return sorted(waits.values(), key=lambda wait: (-wait["blocked_ns"], -wait["count"])), outside


def _lines(ranges: Mapping[str, Any], shown: Callable[[str], str | None]) -> dict[str, list[list[int]]]:
    return {path: found for name, found in ranges.items() if (path := shown(name)) is not None}


def _with_status(row: Row, waits: Iterable[Row], lines: Mapping[str, list[list[int]]] | None) -> Row:
    """Return a finding with its status in the run; mark the synchronizations inside as predicted."""
    found = [wait for wait in waits if row["line"] <= wait["line"] <= row["end_line"]]
    for wait in found:
        wait["predicted"] = True
    if found:
        status = CONFIRMED
    elif lines is None:
        status = NOT_SEEN
    else:
        status = SILENT if ran(lines.get(row["path"], ()), row["line"], row["end_line"]) else NEVER_RAN
    counts = {name: sum(wait[name] for wait in found) for name in ("count", "blocked_ns")}
    return row | counts | {"status": status}


def _score(findings: Iterable[Row], waits: Iterable[Row]) -> Score:
    statuses = Counter(row["status"] for row in findings)
    lines = {(wait["path"], wait["line"]): wait["predicted"] for wait in waits}
    confirmed = statuses[CONFIRMED]
    return Score(confirmed, confirmed + statuses[SILENT], sum(lines.values()), len(lines))


def _scores(findings: Sequence[Row], waits: Sequence[Row], key: Callable[[Row], str]) -> dict[str, Score]:
    names = sorted({key(row) for row in (*findings, *waits)})
    return {
        name: _score(
            [row for row in findings if key(row) == name], [wait for wait in waits if key(wait) == name]
        )
        for name in names
    }
