"""Writes what was recorded to a file of this process: one JSON object a line, appended as it comes."""

import itertools
import os
import sys
import time

MAX_BYTES = 64 * 1024 * 1024
_RECORDED = ("code", "stack", "entry", "counts")


class Output:
    """The file of one process; opened by its first line."""

    def __init__(self, folder):
        self._folder = folder
        self._path = None
        self._fd = None
        self._header = b""
        self._written = 0
        self._latest = {}
        self._known_codes = {}
        self._known_stacks = {}
        self._known_entries = set()

    def open(self):
        """Create the file and say which process writes it; imports nothing."""
        started = time.time_ns()
        self._path = os.path.join(self._folder, f"{os.getpid()}-{started}.jsonl")
        argv = getattr(sys, "orig_argv", None) or [sys.executable or "python"]
        header = '{"syncscan_process": 1, "pid": %d, "ppid": %d, "started_ns": %d, "argv": "%s"}\n'
        hexadecimal = os.fsencode("\0".join(argv)).hex()
        self._header = (header % (os.getpid(), os.getppid(), started, hexadecimal)).encode()
        self._create(self._path)

    def _create(self, path):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._written = 0
        self._append(self._header)

    def _append(self, line):
        os.write(self._fd, line)
        self._written += len(line)

    def write(self, **record):
        """Append one line; nothing where the file could not be opened."""
        import json

        if self._fd is not None:
            line = (json.dumps(record, separators=(",", ":")) + "\n").encode()
            kind = next(iter(record))
            if kind not in _RECORDED:
                self._latest[line if kind == "note" else kind] = line
            self._append(line)

    def compact(self, recorder):
        """Once the file is large, put one in its place that says each thing once."""
        if self._written < MAX_BYTES:
            return
        old = self._fd
        self._create(self._path + ".new")
        self._known_codes.clear()
        self._known_stacks.clear()
        self._known_entries.clear()
        for line in self._latest.values():
            self._append(line)
        for entry in list(recorder.entries.values()):
            entry.flushed = 0
        self.write_entries(recorder)
        os.replace(self._path + ".new", self._path)
        os.close(old)

    def write_entries(self, recorder):
        """Append the entries that changed, and before them the code objects and stacks they need."""
        counts = []
        names = list(recorder.numbers)
        for entry in list(recorder.entries.values()):
            state = entry.count + entry.total_ns  # both only grow
            if state == entry.flushed:
                continue
            entry.flushed = state
            self._describe(entry, recorder)
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
        if counts:
            self.write(counts=counts)

    def _describe(self, entry, recorder):
        if entry.id in self._known_entries:
            return
        self._known_entries.add(entry.id)
        number = self._known_stacks.get(entry.stack)
        if number is None:
            number = self._known_stacks[entry.stack] = len(self._known_stacks)
            self._write_stack(number, entry.stack, recorder)
        self.write(entry=[entry.id, number, entry.api, entry.phase, entry.allowed, entry.node])

    def _write_stack(self, number, stack, recorder):
        frames = []
        for code_id, offset in zip(stack[::2], stack[1::2]):
            code = recorder.codes[code_id]
            if code_id not in self._known_codes:
                self._known_codes[code_id] = len(self._known_codes)
                name = getattr(code, "co_qualname", code.co_name)
                self.write(code=[self._known_codes[code_id], code.co_filename, name, code.co_firstlineno])
            frames.append([self._known_codes[code_id], *position(code, offset)])
        self.write(stack=[number, frames])


def position(code, offset):
    """(line, column, end line, end column) of an instruction; columns are UTF-8 offsets, None before 3.11."""
    if hasattr(code, "co_positions"):
        found = next(itertools.islice(code.co_positions(), max(offset, 0) // 2, None), None)
        if found is not None:
            line, end_line, column, end_column = found
            return line or code.co_firstlineno, column, end_line, end_column
    import dis

    line = code.co_firstlineno
    for start, at in dis.findlinestarts(code):
        if start > offset:
            break
        line = at or line
    return line, None, None, None
