"""Reads what the traced processes wrote: a folder of files, one a process, one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
    """All waits of one stack in one phase of one process. Times are nanoseconds."""

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


@dataclass
class Process:
    """What one process wrote."""

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
    waits: list[Wait] = field(default_factory=list)


def read_processes(parts: Path) -> list[Process]:
    """Every process that wrote into the folder, in the order of their start."""
    found = (read_process(path) for path in parts.glob("*.jsonl"))
    return sorted((p for p in found if p is not None), key=lambda process: process.started_ns)


def read_process(path: Path) -> Process | None:
    """What one file holds; a line cut short by a kill ends it, and a file of another kind gives None."""
    lines = _objects(path)
    header = next(lines, {})
    if header.get("syncscan_process") != 1:
        return None
    try:
        argv = os.fsdecode(bytes.fromhex(header["argv"])).split("\0")
        pid, ppid, started_ns = (int(header[name]) for name in ("pid", "ppid", "started_ns"))
    except (LookupError, TypeError, ValueError):
        return None
    process = Process(pid, ppid, started_ns, argv)
    _Reader(process).read(lines)
    return process


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                return
            if not isinstance(record, dict):
                return
            yield record


class _Reader:
    """Puts the lines of a file together: code objects, stacks of them, entries, and their latest counts."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._codes: dict[int, tuple[str, str]] = {}
        self._stacks: dict[int, tuple[Frame, ...]] = {}
        self._entries: dict[int, list[Any]] = {}
        self._counts: dict[int, list[Any]] = {}

    def read(self, lines: Iterable[dict[str, Any]]) -> None:
        for line in lines:
            for name, value in line.items():
                self._read_field(name, value)
        known = [number for number in self._counts if number in self._entries]
        self._process.waits = [self._wait(number) for number in known]

    def _read_field(self, name: str, value: Any) -> None:
        handler = getattr(self, f"_read_{name}", None)
        try:
            if handler is not None:
                handler(value)
        except (LookupError, TypeError, ValueError):  # what it refers to was not written: the disk was full
            self._process.notes.append("a part of what it recorded is lost")

    def _read_torch(self, value: dict[str, Any]) -> None:
        self._process.torch = value

    def _read_rank(self, value: int | None) -> None:
        self._process.rank = value

    def _read_armed(self, value: list[str]) -> None:
        known = self._process.detectors
        known += [name for name in value if name not in known]

    def _read_note(self, value: str) -> None:
        self._process.notes.append(value)

    def _read_wall_ns(self, value: int) -> None:
        self._process.wall_ns = value

    def _read_steps(self, value: dict[str, Any]) -> None:
        self._process.steps = value

    def _read_code(self, value: list[Any]) -> None:
        number, path, function, _first_line = value
        self._codes[number] = (path, function)

    def _read_stack(self, value: list[Any]) -> None:
        number, frames = value
        self._stacks[number] = tuple(Frame(*self._codes[code], *position) for code, *position in frames)

    def _read_entry(self, value: list[Any]) -> None:
        number, stack, *rest = value
        self._entries[number] = [self._stacks[stack], *rest]

    def _read_counts(self, value: list[list[Any]]) -> None:
        for number, *counts in value:
            self._counts[number] = counts

    def _wait(self, number: int) -> Wait:
        stack, api, phase, allowed, node = self._entries[number]
        count, total_ns, longest_ns, paired, warned, histogram, threads = self._counts[number]
        return Wait(
            number,
            stack,
            api,
            phase,
            allowed,
            (node[0], tuple(node[1])) if node else None,
            count,
            total_ns,
            longest_ns,
            paired,
            warned,
            {int(bucket): times for bucket, times in histogram.items()},
            threads,
        )


def quantile(histogram: dict[int, int], share: float) -> int:
    """The duration below which ``share`` of the waits lie, within 7%; 0 for an empty histogram."""
    wanted = share * sum(histogram.values())
    passed = 0
    for bucket in sorted(histogram):
        passed += histogram[bucket]
        if passed >= wanted:
            return bucket_ns(bucket)
    return 0


def bucket_ns(bucket: int) -> int:
    """The middle of a histogram bucket of the hook, in nanoseconds."""
    bits, eighth = bucket >> 3, bucket & 7
    if bits <= 4:
        return bucket
    return ((8 + eighth) << (bits - 4)) + (1 << (bits - 5))
