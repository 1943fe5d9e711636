"""One folder checked in several ways, and what is wrong with what came of it."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.robust.alone import faults_in
from benchmarks.robust.watched import Watched, watch

Answer = dict[str, Any]

_START = 30.0  # seconds that any run may take
_FOREVER = 86_400.0  # each file has a limit of its own


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take: bytes, and how many times what `ast.parse` takes for the same files."""

    memory: int
    slow: float


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and the files that are enough to see it."""

    text: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of a folder; times are seconds of the processor, ``peak`` is in bytes."""

    name: str
    files: int
    broken: int  # files that are no Python of this version
    findings: int
    processor: float
    parse: float
    peak: int
    faults: tuple[Fault, ...]

    @property
    def ratio(self) -> float:
        """How much longer than `ast.parse` the check takes."""
        return self.processor / self.parse if self.parse else 0.0


def total(rows: Sequence[Row]) -> Row:
    """All rows in one."""
    return Row(
        "all",
        sum(row.files for row in rows),
        sum(row.broken for row in rows),
        sum(row.findings for row in rows),
        sum(row.processor for row in rows),
        sum(row.parse for row in rows),
        max(row.peak for row in rows),
        tuple(fault for row in rows for fault in row.faults),
    )


def trial(name: str, folder: Path, limits: Limits) -> Row:
    """Check a folder file by file, and as a whole in two ways that may make no difference."""
    parse, faults = _alone(folder, limits)
    one, two = _runs(folder, sum(parse.values()), limits)
    known = {fault.text for fault in faults}
    faults += [_reduced(text, folder, parse, limits) for text in faults_of(one, two) if text not in known]
    answer = _answer(one) or {"findings": [], "files": {"failed": [], "newer": []}}
    files = answer["files"]
    return Row(
        name,
        len(parse),
        len(files["newer"]) + sum(not failure["partial"] for failure in files["failed"]),
        len(answer["findings"]),
        one.processor,
        sum(parse.values()),
        max(one.peak, two.peak),
        tuple(faults),
    )


def _alone(folder: Path, limits: Limits) -> tuple[dict[Path, float], list[Fault]]:
    """The seconds that `ast.parse` takes for each file, and what is wrong with single ones."""
    files = sorted(folder.rglob("*.py"))
    command = [sys.executable, "-m", "benchmarks.robust.alone", str(folder), str(limits.slow)]
    run = watch(command, 1, _FOREVER, limits.memory)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    faults = [
        Fault(text, (str(path),))
        for path, line in zip(files, lines, strict=False)
        for text in dict.fromkeys(line["faults"])
    ]
    if len(lines) < len(files):
        faults.append(Fault(_end(run), (str(files[len(lines)]),)))
    parse = [line["parse"] for line in lines] + [0.0] * (len(files) - len(lines))
    return dict(zip(files, parse, strict=True)), faults


def _runs(folder: Path, parse: float, limits: Limits) -> tuple[Watched, Watched]:
    command = [
        sys.executable,
        "-m",
        "syncscan",
        "check",
        "--isolated",
        "--output-format",
        "json",
        "--no-cache",
        str(folder),
    ]
    seconds = _START + limits.slow * parse
    one = watch([*command, "--jobs", "1"], 1, seconds, limits.memory)
    return one, watch([*command, "--jobs", "2"], 2, seconds, limits.memory)


def faults_of(one: Watched, two: Watched) -> list[str]:
    """What is wrong with two runs of the same check, each in a line."""
    faults = list(dict.fromkeys(fault for run in (one, two) for fault in _faults(run)))
    if not faults and _comparable(one) != _comparable(two):
        faults.append("another result under another hash seed and number of processes")
    return faults


def _faults(run: Watched) -> Iterator[str]:
    answer = _answer(run)
    if run.stderr or answer is None:
        yield _end(run)
        return
    failed, newer = answer["files"]["failed"], answer["files"]["newer"]
    status = 2 if failed else 1 if answer["findings"] else 0
    if run.status != status:
        yield f"ended with status {run.status} instead of {status}"
    for message in (said["message"] for said in [*failed, *newer, *answer["findings"]]):
        yield from faults_in(message)


def _end(run: Watched) -> str:
    """How a run ended that did not say all that it had to say."""
    if run.exceeded:
        return f"ended for taking too much {run.exceeded}"
    last = (run.stderr.strip().splitlines() or ["nothing said"])[-1]
    return f"ended with status {run.status}: {last}"


def _answer(run: Watched) -> Answer | None:
    try:
        return json.loads(run.stdout)  # type: ignore[no-any-return]
    except ValueError:
        return None


def _comparable(run: Watched) -> Answer | None:
    answer = _answer(run)
    return {**answer, "timing": None} if answer else None


def _reduced(text: str, folder: Path, parse: dict[Path, float], limits: Limits) -> Fault:
    """A fault with the fewest of the files that are still enough for it."""

    def shows(some: Sequence[Path]) -> bool:
        with tempfile.TemporaryDirectory() as name:
            for path in some:
                copy = Path(name) / path.relative_to(folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
            return text in faults_of(*_runs(Path(name), sum(parse[path] for path in some), limits))

    return Fault(text, tuple(map(str, fewest(list(parse), shows))))


def fewest(files: Sequence[Path], shows: Callable[[Sequence[Path]], bool]) -> Sequence[Path]:
    """Some of the files of which none can be left out: half of them are, then ever smaller parts."""
    size = (len(files) + 1) // 2
    while size:
        for start in range(0, len(files), size):
            rest = [*files[:start], *files[start + size :]]
            if rest and shows(rest):
                files, size = rest, min(size, len(rest) // 2) or 1
                break
        else:
            size //= 2
    return files
