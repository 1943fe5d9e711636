"""Writes what was recorded to a file of this process: one JSON object a line, appended as it comes."""

from __future__ import annotations

import dis
import itertools
import json
import os
import sys
from time import perf_counter_ns, time_ns

from .append import append
from .interrupts import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from .entry import Entry
    from .interfaces import Position, Watch
    from .part import TraceFile
    from .record import WaitRecorder

MAX_BYTES = 64 * 1024 * 1024
_MAX_SOURCE = 1024 * 1024
_PIECE_LINES = 1000
_RECORDED = (
    "source",
    "code",
    "stack",
    "entry",
    "counts",
    "spread",
    "starved",
    "moments",
    "windows",
    "seen",
    "lines",
    "callees",
    "callers",
)


class Output:
    """Collects lines, and appends them to the file of the process with `send`."""

    def __init__(self, part: TraceFile, recorder: WaitRecorder, watches: list[Watch]) -> None:
        self._part = part
        self._recorder = recorder
        self._watches = watches
        self._lines: list[bytes] = []
        self._whole = part.created  # whether the file holds what was sent before
        self._size = 0
        self._latest: dict[Any, bytes] = {}
        self._known_codes: dict[int, int] = {}
        self._known_sources: dict[str, str] = {}
        self._known_stacks: dict[tuple[int, ...], int] = {}
        self._known_entries: set[int] = set()
        self._known_moments = 0
        self._known_windows = 0
        self._epoch_ns = time_ns() - perf_counter_ns()  # of the clock that times synchronizations and steps

    def write(self, **record: Any) -> None:
        """Add one line."""
        line = (json.dumps(record, separators=(",", ":")) + "\n").encode()
        kind = next(iter(record))
        if kind not in _RECORDED:
            self._latest[line if kind == "note" else kind] = line
        self._lines.append(line)

    def take(self, write: Callable[[], None]) -> None:
        """Let a function add lines; where it does not come to its end, the next `send` writes all anew."""
        whole, self._whole = self._whole, False
        try:
            write()
        except Exception as error:
            if outside(error.__traceback__) is None:  # a defect of ours, of which the lines tell
                self._whole = whole
            raise
        self._whole = whole

    def send(self) -> None:
        """Append the lines. If that fails, or once the file is large, put a new file in its place."""
        if self._whole and self._size < MAX_BYTES:
            self._whole = self._append_lines(self._part.path)
        else:
            self._start_again()

    def _append_lines(self, path: str) -> bool:
        lines, self._lines = self._lines, []
        for start in range(0, len(lines), _PIECE_LINES):
            piece = b"".join(lines[start : start + _PIECE_LINES])
            if not append(path, piece):
                return False
            self._size += len(piece)
        return True

    def _start_again(self) -> None:
        """Replace the file by one without repetitions; leave the file where the disk has no room."""
        self._lines = []
        self._whole = False
        if self._part.created and not os.path.exists(self._part.path):
            return  # the trace is over, or the program went where its folder is out of reach
        path = self._part.path + ".new"
        if not append(path, self._part.header, create=True):
            _remove(path)
            return
        self._lines.extend(self._latest.values())
        self._known_codes.clear()
        self._known_sources.clear()
        self._known_stacks.clear()
        self._known_entries.clear()
        self._known_moments = self._known_windows = 0
        for entry in list(self._recorder.entries.values()):
            entry.flushed = 0
        self.write_entries()
        self.write_watched(whole=True)
        self._size = 0
        if not self._append_lines(path):
            _remove(path)
            return
        os.replace(path, self._part.path)
        self._part.created = self._whole = True

    def write_entries(self) -> None:
        """Add the entries that changed, and before them the code objects and stacks they need."""
        counts: list[list[Any]] = []
        spread: list[list[Any]] = []
        starved: list[list[Any]] = []
        names = list(self._recorder.numbers)
        for entry in list(self._recorder.entries.values()):
            state = entry.count + entry.total_ns + entry.squares[0] + sum(entry.starved)  # all only grow
            if state == entry.flushed:
                continue
            entry.flushed = state
            self._describe(entry)
            counts.append(
                [
                    entry.id,
                    entry.count,
                    entry.total_ns,
                    entry.longest_ns,
                    entry.paired,
                    entry.warned,
                    dict(entry.histogram),
                    {names[number]: count for number, count in entry.threads.items()},
                ]
            )
            if entry.squares[0]:
                spread.append([entry.id, *entry.squares])
            if entry.starved[0]:
                starved.append([entry.id, *entry.starved])
        if counts:
            self.write(counts=counts)
        if spread:
            self.write(spread=spread)
        if starved:
            self.write(starved=starved)
        self._write_times()

    def _write_times(self) -> None:
        """Add the times of synchronizations and steps since the last call."""
        moments = self._recorder.moments[self._known_moments :]
        windows = self._recorder.windows[self._known_windows :]
        names = list(self._recorder.numbers)  # after them, so that it has all their threads
        self._known_moments += len(moments)
        self._known_windows += len(windows)
        if moments:
            self.write(
                moments=[
                    [entry.id, names[thread], self._epoch_ns + end - lasted, lasted]
                    for entry, end, lasted, thread in moments
                    if entry.id in self._known_entries
                ]
            )
        if windows:
            self.write(
                windows=[
                    [phase, names[thread], self._epoch_ns + began, *rest]
                    for phase, thread, began, *rest in windows
                ]
            )

    def write_watched(self, *, whole: bool = False) -> None:
        """Add what the watches have seen since the last time, or in all."""
        for watch in self._watches:
            for kind, record in watch.changed(whole=whole):
                self.write(**{kind: record})

    def _describe(self, entry: Entry) -> None:
        if entry.id in self._known_entries:
            return
        self._known_entries.add(entry.id)
        number = self._known_stacks.get(entry.stack)
        if number is None:
            number = self._known_stacks[entry.stack] = len(self._known_stacks)
            self._write_stack(number, entry.positions)
        self.write(entry=[entry.id, number, entry.api, entry.phase, entry.allowed, entry.node])

    def _write_stack(self, number: int, stack: tuple[Position, ...]) -> None:
        frames: list[list[Any]] = []
        for code, offset in stack:
            code_id = id(code)
            if code_id not in self._known_codes:
                self._known_codes[code_id] = len(self._known_codes)
                self._write_source(code.co_filename)
                name = getattr(code, "co_qualname", code.co_name)
                self.write(code=[self._known_codes[code_id], code.co_filename, name, code.co_firstlineno])
            frames.append([self._known_codes[code_id], *position(code, offset)])
        self.write(stack=[number, frames])

    def _write_source(self, path: str) -> None:
        """Add the text of a source that no file holds, such as a cell of a notebook; no text for a name that has several."""
        text, known = _text_without_file(path), self._known_sources.get(path)
        if known is None:
            self._known_sources[path] = text
            if text:
                self.write(source=[path, text])
        elif known and text != known:
            self._known_sources[path] = ""
            self.write(source=[path, ""])


def _text_without_file(path: str) -> str:
    """Return the text that the program has registered for tracebacks under a name that is no file, or "".

    Notebooks and shells number their inputs. A name without a number, such as ``<input>``, is used again and again.
    """
    if not any(map(str.isdigit, path)):
        return ""
    cache = getattr(sys.modules.get("linecache"), "cache", None)
    entry = cache.get(path) if type(cache) is dict else None
    if type(entry) is not tuple or len(entry) != 4 or entry[1] is not None:  # the time of change of a file
        return ""
    lines = entry[2]
    if type(lines) is not list or not all(type(line) is str for line in lines):
        return ""
    text = "".join(lines)
    return text if len(text) <= _MAX_SOURCE else ""


def position(code: CodeType, offset: int) -> tuple[int, int | None, int | None, int | None]:
    """Return (line, column, end line, end column) of an instruction; columns are UTF-8 offsets, None before 3.11."""
    if hasattr(code, "co_positions"):
        found = next(itertools.islice(code.co_positions(), max(offset, 0) // 2, None), None)
        if found is not None:
            line, end_line, column, end_column = found
            return line or code.co_firstlineno, column, end_line, end_column
    line = code.co_firstlineno
    for start, at in dis.findlinestarts(code):
        if start > offset:
            break
        line = at or line
    return line, None, None, None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
