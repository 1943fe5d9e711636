"""Measures every unit in child processes, survives what they die of, and resumes where it was cut short."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from syncscan.errors import SyncscanError, suggestion
from syncscan.measure import handwritten, opinfo

WORKERS = 6
SILENCE_S = 90.0  # a child that is silent for so long is stuck

Finished = dict[str, Any]  # {"unit": ..., "records": [...], "left out": reason or None}


def all_units() -> list[str]:
    """Return every unit of work, those first that need a process of their own."""
    sheets = [sheet for sheet in handwritten.sheets().values() if sheet.cases]
    mine = [f"cases {sheet.op}" for sheet in sheets if not sheet.process]
    theirs = [f"op_db {name}" for name in opinfo.entries() if opinfo.left_out(name) is None]
    return [*sorted(_units_apart()), *mine, *theirs]


def units_of(operations: Collection[str]) -> list[str]:
    """Return the units that measure these operations; SyncscanError names an operation without one."""
    by_operation: dict[str, list[str]] = defaultdict(list)
    for unit in all_units():
        for operation in _operations_of(unit):
            by_operation[operation].append(unit)
    if (unknown := next((name for name in operations if name not in by_operation), None)) is not None:
        hint = suggestion(unknown, by_operation)
        raise SyncscanError(f"nothing measures {unknown!r}: add its calls to cases.toml; {hint}")
    return list(dict.fromkeys(unit for name in operations for unit in by_operation[name]))


def _operations_of(unit: str) -> list[str]:
    source, _, name = unit.partition(" ")
    if source == "op_db":
        return [opinfo.public_name(name)]
    return [sheet.op for sheet in handwritten.sheets().values() if name in {sheet.op, sheet.process}]


class Log:
    """The file of finished units: a header line, then one line each."""

    def __init__(self, path: Path, header: dict[str, str]) -> None:
        self.path = path
        self.finished: dict[str, Finished] = {}
        if _header_of(path) == header and not any("complete" in line for line in _lines(path)):
            self.finished = {line["unit"]: line for line in _lines(path) if "unit" in line}
        else:
            path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        self._lock = threading.Lock()

    def add(self, unit: Finished) -> None:
        """Append a finished unit; a line is either whole or, after a kill, ignored."""
        with self._lock, self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(unit) + "\n")
            self.finished[unit["unit"]] = unit

    def close(self) -> None:
        """Say that nothing is missing: the next run starts over."""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"complete": True}) + "\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if (parsed := _parsed(line)) is not None:
            yield parsed


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        parsed: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None  # the line that was being written when the run was killed
    return parsed


def _header_of(path: Path) -> dict[str, Any] | None:
    return next(_lines(path), None) if path.is_file() else None


def read_log(path: Path, *, complete: bool = False) -> tuple[dict[str, str], list[Finished]]:
    """Return the header and the units of a log; SyncscanError if it is not one, or not ``complete`` where it has to be."""
    lines = list(_lines(path))
    if not lines or "torch" not in lines[0]:
        raise SyncscanError(f"{path} holds no measurements: give the file that `ops measure --raw` wrote")
    if complete and not any("complete" in line for line in lines):
        raise SyncscanError(
            f"{path} was cut short: finish it with `ops measure --raw {path}` on that machine"
        )
    return lines[0], [line for line in lines if "unit" in line]


class Child:
    """One measuring process; `ask` gives it a unit and yields its answers until the unit is done."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._answers: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in cast("IO[str]", self._process.stdout):
            self._answers.put(line)
        self._answers.put("")

    def ask(self, unit: str, skip: int) -> Iterator[dict[str, Any]]:
        """Yield answers to one unit; the last is {"died": why} where it did not come to its end."""
        requests = cast("IO[str]", self._process.stdin)
        try:
            requests.write(json.dumps({"unit": unit, "skip": skip}) + "\n")
            requests.flush()
        except BrokenPipeError:
            yield {"died": "the process ended"}
            return
        while True:
            try:
                line = self._answers.get(timeout=SILENCE_S)
            except queue.Empty:
                self.end()
                yield {"died": f"no answer in {SILENCE_S:.0f} s"}
                return
            if not line:
                yield {"died": f"the process ended with status {self._process.wait()}"}
                return
            answer = json.loads(line)
            if "done" in answer:
                return
            yield answer

    def end(self) -> None:
        """Stop the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(BrokenPipeError):
                    pipe.close()


def _command() -> list[str]:
    return [sys.executable, "-m", "syncscan.measure.run"]


def measure_all(
    log: Log,
    units: Sequence[str],
    command: Callable[[], Sequence[str]] = _command,
    workers: int = WORKERS,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> None:
    """Measure the units that the log lacks; SyncscanError where no child comes to life."""
    todo: queue.Queue[str] = queue.Queue()
    for unit in units:
        if unit not in log.finished:
            todo.put(unit)
    failures: list[BaseException] = []
    threads = [
        threading.Thread(
            target=_work, args=(todo, log, command, failures, lambda: tell(len(log.finished), len(units)))
        )
        for _ in range(min(workers, os.cpu_count() or 1, max(1, todo.qsize())))
    ]
    for thread in threads:
        thread.daemon = True
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)  # lets Ctrl-C through
    if failures:
        raise failures[0]


def _work(
    todo: queue.Queue[str],
    log: Log,
    command: Callable[[], Sequence[str]],
    failures: list[BaseException],
    tell: Callable[[], None],
) -> None:
    child: Child | None = None
    try:
        while not failures:
            try:
                unit = todo.get_nowait()
            except queue.Empty:
                break
            child = _measure_unit(unit, child, log, command)
            tell()
    except BaseException as error:
        failures.append(error)
    finally:
        if child is not None:
            child.end()


def _measure_unit(
    unit: str, child: Child | None, log: Log, command: Callable[[], Sequence[str]]
) -> Child | None:
    """Measure one unit, in as many processes as it takes; return the process that is still alive."""
    alone = unit in _units_apart()
    if alone and child is not None:
        child.end()
        child = None
    finished: Finished = {"unit": unit, "records": [], "left out": None}
    while True:
        child = child or Child(command())
        before = len(finished["records"])
        died = _collect(child, finished)
        if died is None:
            break
        child.end()
        child = None
        if len(finished["records"]) == before:
            if not log.finished:
                raise SyncscanError(f"measuring cannot start: {died}; run `{' '.join(command())}` to see why")
            finished["left out"] = died
            break
    log.add(finished)
    if alone and child is not None:
        child.end()
        return None
    return child


def _collect(child: Child, finished: Finished) -> str | None:
    """Add one child's answers to a unit; return why the child died, or None where it finished."""
    started = died = None
    for answer in child.ask(finished["unit"], len(finished["records"])):
        if "record" in answer:
            finished["records"].append(answer["record"])
            started = None
        started = answer.get("started", started)
        finished["left out"] = answer.get("left out", finished["left out"])
        died = answer.get("died")
    if started is not None:
        finished["records"].append({**started, "error": died})
    return died


def _units_apart() -> set[str]:
    return {f"cases {sheet.process}" for sheet in handwritten.sheets().values() if sheet.process}
