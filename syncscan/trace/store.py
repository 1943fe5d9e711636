"""Reads what the traced processes wrote: a folder of files, one a process, one JSON object a line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from syncscan.system.files import open_file
from syncscan.trace.shape import (
    Later,
    Mismatch,
    Shape,
    anything,
    by_number,
    integer,
    list_of,
    map_of,
    number,
    optional,
    parse,
    record,
    row,
    text,
)

FORMAT_VERSION = 1
# The frames that wrap the step or simulate a thread are no part of the program.
_OURS = re.compile(r"/_syncscan_hook/|/syncscan/simulate/inside/")
MAX_BYTES = 128 * 1024 * 1024  # of one file; the hook begins another one at half of that
MAX_KEPT = 5_000_000  # of the data of one process; the hook holds 20,000 stacks of 64 frames


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack. Columns are UTF-8 offsets from 0, None where the interpreter has none."""

    path: str
    function: str
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """All synchronizations of one stack in one phase of one process. Times are nanoseconds."""

    number: int
    frames: tuple[Frame, ...]  # innermost first
    api: str
    phase: str  # "outside" of steps, "warmup" or "steady"
    allowed: str | None
    node: tuple[str, tuple[str, ...]] | None  # autograd node and its forward traceback
    count: int
    total_ns: int
    longest_ns: int
    paired: int
    warned: int
    histogram: dict[int, int]
    threads: dict[str, int]
    squares: tuple[float, float] = (0.0, 0.0)  # over the steady steps, the sums of count**2 and of ns**2
    starved: tuple[int, int] | None = (
        None  # after how many it was measured, and for how long the GPU then was idle
    )


@dataclass(frozen=True, slots=True)
class SeenFunction:
    """How often a function was called, and for each of its names how often which word; see `syncscan.facts`."""

    path: str
    name: str
    line: int  # the first of the definition, decorators included
    calls: int
    words: dict[str, dict[str, int]]


@dataclass
class Process:
    """The records of one process."""

    pid: int
    ppid: int
    started_ns: int
    argv: list[str]
    rank: int | None = None
    torch: dict[str, Any] = field(default_factory=dict)
    detectors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    wall_ns: int = 0
    steps: dict[str, Any] | None = None
    checked: dict[str, int] | None = None  # of some steps, idle GPU time by the launches and by the kernels
    sources: dict[str, str] = field(default_factory=dict)  # the texts of sources that no file holds
    waits: list[Wait] = field(default_factory=list)
    seen: list[SeenFunction] = field(default_factory=list)
    callees: dict[str, list[list[Any]]] = field(
        default_factory=dict
    )  # by file, the range of each call and the names that it had
    callers: dict[str, list[list[Any]]] = field(default_factory=dict)  # by file, what ran and from where
    uncomputed: dict[str, int] = field(
        default_factory=dict
    )  # how often which operation was simulated by zeros
    decided: dict[str, int] = field(default_factory=dict)  # how often the host read what comes of it
    # For a timeline, of some synchronizations (number, thread, start since 1970, ns), and
    # of some steps (phase, thread, start, ns, synchronizations, ns blocked).
    moments: list[list[Any]] = field(default_factory=list)
    windows: list[list[Any]] = field(default_factory=list)


@dataclass
class AllRecords:
    """The records of all processes. Each of a thousand workers may run the same lines, so those are kept once."""

    processes: list[Process] = field(default_factory=list)  # in the order of their start
    lines: dict[str, set[int]] = field(default_factory=dict)  # that ran in any of them, by file


def read_parts(parts: Path) -> AllRecords:
    """Return what every process wrote into the folder."""
    whole = AllRecords()
    for path in parts.glob("*.jsonl"):
        process = _read_process(path, whole.lines)
        whole.processes += [process] if process is not None else []
    whole.processes.sort(key=lambda process: process.started_ns)
    return whole


def _read_process(path: Path, ran: dict[str, set[int]]) -> Process | None:
    """Return what one file holds, but for the lines that ran, which are added to those of other processes.

    A line cut short by a kill ends the file, and a file of another kind gives None.
    """
    try:
        with open_file(path) as stream:
            lines = _lines(stream)
            header = _HEADER(parse(next(lines, b"")))
            if header["syncscan_process"] != FORMAT_VERSION:
                return None
            argv = os.fsdecode(bytes.fromhex(header["argv"])).split("\0")
            process = Process(header["pid"], header["ppid"], header["started_ns"], argv)
            _Reader(process, ran).read(lines)
    except (OSError, ValueError, Mismatch):
        return None
    return process


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, up to the longest line and the largest file that a process writes."""
    left = MAX_BYTES
    while left > 0 and (line := stream.readline(left)).endswith(b"\n"):
        left -= len(line)
        yield line


_HEADER = record(syncscan_process=integer, pid=integer, ppid=integer, started_ns=integer, argv=text)
_POSITION = (optional(integer), optional(integer), optional(integer))
_STEPS = record(
    target=text, started=integer, steady=integer, wall_ns=integer, most=map_of(row(number, by_number(number)))
)
CALLEE = row(integer, integer, integer, integer, list_of(text))  # line, column, their ends, and the names
CALLER = row(
    integer, text, integer, integer
)  # the first line of what ran; file, first line and line of who called
HISTOGRAM = by_number(integer, largest=511)  # the bucket of 2**63 nanoseconds
CHECKED = record(steps=integer, waits=integer, starved_ns=integer, timeline_ns=integer)
_FIELDS: dict[str, Shape] = {
    "torch": record(version=text, folder=text, library=Later(text, ""), cuda=optional(text)),
    "rank": optional(integer),
    "armed": list_of(text),
    "note": text,
    "wall_ns": integer,
    "steps": _STEPS,
    "checked": optional(CHECKED),
    "source": row(text, text),
    "code": row(integer, text, text, integer),
    "stack": row(integer, list_of(row(integer, integer, *_POSITION))),
    "entry": row(integer, integer, text, text, optional(text), optional(row(text, list_of(text)))),
    "seen": row(text, text, integer, integer, map_of(map_of(integer))),
    "lines": row(text, list_of(integer)),
    "callees": row(text, list_of(CALLEE)),
    "callers": row(text, list_of(CALLER)),
    "uncomputed": map_of(integer),
    "decided": map_of(integer),
    "counts": list_of(row(integer, integer, integer, integer, integer, integer, HISTOGRAM, map_of(integer))),
    "spread": list_of(row(integer, number, number)),
    "starved": list_of(row(integer, integer, integer)),
    "moments": list_of(row(integer, text, integer, integer)),
    "windows": list_of(row(text, text, integer, integer, integer, integer)),
}


class _Reader:
    """The reader of a file's lines: code objects, stacks of them, entries, and their latest counts."""

    def __init__(self, process: Process, ran: dict[str, set[int]]) -> None:
        self._process = process
        self._ran = ran
        self._kept = 0
        self._notes: dict[str, None] = {}
        self._detectors: dict[str, None] = {}
        self._codes: dict[int, tuple[str, str]] = {}
        self._stacks: dict[int, tuple[Frame, ...]] = {}
        self._entries: dict[int, list[Any]] = {}
        self._counts: dict[int, list[Any]] = {}
        self._squares: dict[int, tuple[float, float]] = {}
        self._starved: dict[int, tuple[int, int]] = {}
        self._seen: dict[tuple[str, str, int], SeenFunction] = {}

    def read(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            try:
                for name, value in map_of(anything)(parse(line)).items():
                    if name in _FIELDS:
                        getattr(self, f"_read_{name}")(_FIELDS[name](value))
            except (Mismatch, KeyError):  # the record refers to one that was not written: the disk was full
                self._lose()
            if self._kept > MAX_KEPT:
                self._lose()
                break
        known = [number for number in self._counts if number in self._entries]
        self._process.waits = [self._wait(number) for number in known]
        self._process.seen = list(self._seen.values())
        self._process.notes = list(self._notes)
        self._process.detectors = list(self._detectors)

    def _lose(self) -> None:
        self._notes["a part of what it recorded is lost"] = None

    def _read_torch(self, value: dict[str, Any]) -> None:
        self._process.torch = value

    def _read_rank(self, value: int | None) -> None:
        self._process.rank = value

    def _read_armed(self, value: list[str]) -> None:
        self._detectors.update(dict.fromkeys(value))
        self._kept += len(value)

    def _read_note(self, value: str) -> None:
        self._notes[value] = None
        self._kept += 1

    def _read_wall_ns(self, value: int) -> None:
        self._process.wall_ns = value

    def _read_steps(self, value: dict[str, Any]) -> None:
        self._process.steps = value

    def _read_checked(self, value: dict[str, int] | None) -> None:
        self._process.checked = value

    def _read_source(self, value: list[str]) -> None:
        path, source = value
        # Python compiles no lone surrogate, but the program may register any text.
        self._process.sources[path] = source.encode("utf-8", "replace").decode()
        self._kept += 1

    def _read_code(self, value: list[Any]) -> None:
        number, path, function, _first_line = value
        self._codes[number] = (path, function)
        self._kept += 1

    def _read_stack(self, value: list[Any]) -> None:
        number, frames = value
        known = (Frame(*self._codes[code], *position) for code, *position in frames)
        self._stacks[number] = tuple(frame for frame in known if not _OURS.search(frame.path))
        self._kept += 1 + len(frames)

    def _read_entry(self, value: list[Any]) -> None:
        number, stack, *rest = value
        self._entries[number] = [self._stacks[stack], *rest]
        self._kept += 1

    def _read_seen(self, value: list[Any]) -> None:
        path, name, line, calls, words = value
        if (path, name, line) not in self._seen:
            self._kept += 1 + sum(map(len, words.values()))
        self._seen[path, name, line] = SeenFunction(path, name, line, calls, words)

    def _read_lines(self, value: list[Any]) -> None:
        path, lines = value
        self._ran.setdefault(path, set()).update(lines)
        self._kept += len(lines)

    def _read_callees(self, value: list[Any]) -> None:
        path, rows = value
        self._process.callees.setdefault(path, []).extend(rows)
        self._kept += len(rows)

    def _read_callers(self, value: list[Any]) -> None:
        path, rows = value
        self._process.callers.setdefault(path, []).extend(rows)
        self._kept += len(rows)

    def _read_uncomputed(self, value: dict[str, int]) -> None:
        self._kept += len(value.keys() - self._process.uncomputed.keys())
        self._process.uncomputed = value

    def _read_decided(self, value: dict[str, int]) -> None:
        self._kept += len(value.keys() - self._process.decided.keys())
        self._process.decided = value

    def _read_counts(self, value: list[list[Any]]) -> None:
        for entry, *counts in value:
            if entry not in self._counts:
                self._kept += sum(map(len, counts[-2:]))
            self._counts[entry] = counts

    def _read_spread(self, value: list[list[Any]]) -> None:
        for entry, counts, durations in value:
            self._kept += entry not in self._squares
            self._squares[entry] = (counts, durations)

    def _read_starved(self, value: list[list[int]]) -> None:
        for entry, measured, total in value:
            self._kept += entry not in self._starved
            self._starved[entry] = (measured, total)

    def _read_moments(self, value: list[list[Any]]) -> None:
        self._process.moments += value
        self._kept += 4 * len(value)

    def _read_windows(self, value: list[list[Any]]) -> None:
        self._process.windows += value
        self._kept += 6 * len(value)

    def _wait(self, number: int) -> Wait:
        stack, api, phase, allowed, node = self._entries[number]
        return Wait(
            number,
            stack,
            api,
            phase,
            allowed,
            (node[0], tuple(node[1])) if node else None,
            *(*self._counts[number], self._squares.get(number, (0.0, 0.0)), self._starved.get(number)),
        )


def added_up(checks: Iterable[dict[str, int] | None]) -> dict[str, int] | None:
    """Return what several processes or traces have checked, field by field; None where none has."""
    found = [check for check in checks if check is not None]
    return {name: sum(check[name] for check in found) for name in found[0]} if found else None


def quantile(histogram: dict[int, int], share: float) -> int:
    """Return the duration below which ``share`` of the events lie, within 7%; 0 for an empty histogram."""
    wanted = share * sum(histogram.values())
    passed = 0
    for bucket in sorted(histogram):
        passed += histogram[bucket]
        if passed >= wanted:
            return bucket_ns(bucket)
    return 0


def bucket_ns(bucket: int) -> int:
    """Return the middle of a histogram bucket of the hook, in nanoseconds."""
    bits, eighth = bucket >> 3, bucket & 7
    if bits <= 4:
        return bucket
    return ((8 + eighth) << (bits - 4)) + (1 << (bits - 5))
