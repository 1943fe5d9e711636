"""From what the processes wrote to the sites of a trace: merge, blame, name."""

from __future__ import annotations

import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from syncscan.ops import OperationTable
from syncscan.rule import rule_book
from syncscan.system.files import read_file
from syncscan.trace.classify import explain
from syncscan.trace.spread import Spread, pooled
from syncscan.trace.store import Frame, Process, Wait, quantile

MAX_STACKS = 5
OTHER_STACKS = "<other stacks>"  # the hook's name for the stacks that it does not tell apart
# Measured: torch's debug mode is silent for these calls.
BLIND_IN_DEBUG_MODE = {
    "cudaDeviceSynchronize",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpy2DAsync",
    "cudaMemcpy3DAsync",
}
_COMPILING = re.compile(
    r"torch/_dynamo/convert_frame\.py$|torch/_inductor/(compile_fx|graph|codecache|async_compile)\.py$"
    r"|torch/_inductor/runtime/(autotune_cache|benchmarking)\.py$|triton/(testing|runtime/autotuner)\.py$"
)
_CAPTURING = re.compile(r"torch/cuda/graphs\.py$|torch/_inductor/cudagraph_trees\.py$")
_FORWARD_LINE = re.compile(r'File "(.+)", line ([0-9]{1,9}), in (.+)')
_MAX_SOURCE = 16 * 1024 * 1024


@dataclass(frozen=True)
class Blame:
    """Whose lines are blamed: the innermost frame that passes.

    Patterns are globs over paths, whole or relative to the folder in which the trace was started.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    folder: str = ""

    def choose(
        self, frames: Sequence[Frame], torch_folder: str, library: str = "", texts: Collection[str] = ()
    ) -> Frame:
        """Return the frame to blame, of those that the patterns leave; a stand-in without.

        A frame outside torch and the standard library comes first, one of code with a source before generated code.
        A frame outside torch is next. ``texts`` names the sources that no file holds.
        """
        if frames and frames[0].path == OTHER_STACKS:
            return frames[0]
        passing = [frame for frame in frames if self.passes(frame.path)]
        outside = [frame for frame in passing if not in_torch(frame.path, torch_folder)]
        own = [frame for frame in outside if not in_library(frame.path, library)]
        begun = frames[-1].path if frames else ""  # by a program in `python -c`, which is no generated code
        written = (f for f in own if f.path == begun or f.path in texts or not f.path.startswith("<"))
        return next(chain(written, own, outside, passing), _LEFT_OUT if frames else _NO_PYTHON)

    def passes(self, path: str) -> bool:
        """Return whether a file is included and not excluded."""
        included = not self.include or self._matches(path, self.include)
        return included and not (self.exclude and self._matches(path, self.exclude))

    def _matches(self, path: str, patterns: Iterable[str]) -> bool:
        names = (path, path.removeprefix(f"{self.folder}/"))
        return any(fnmatch(name, pattern) for pattern in patterns for name in names)


_NO_PYTHON = Frame("<no Python>", "native thread", 0, None, None, None)
_LEFT_OUT = Frame("<not blamed>", "lines that --include and --exclude leave out", 0, None, None, None)


def in_torch(path: str, torch_folder: str) -> bool:
    """Return whether a file is one of torch, or no file."""
    return path.startswith("<frozen") or bool(torch_folder and path.startswith(f"{torch_folder}/"))


def in_library(path: str, library: str) -> bool:
    """Return whether a file is one of the standard library in this folder, which also has the installed packages."""
    return bool(library) and path.startswith(f"{library}/") and "-packages/" not in path


@dataclass(frozen=True, slots=True)
class SiteKey:
    """The key that the synchronizations of one site share."""

    path: str
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None
    function: str
    api: str
    phase: str  # "steady", "warmup", "compile" or "capture"
    in_step: bool
    allowed: str | None
    node: str | None
    breaks_graph: bool  # of a compiled function
    uncomputed: bool  # the simulation did not compute the value that is read


@dataclass
class Site:
    """One place that synchronized, over all processes. Times are nanoseconds, columns 1-based characters."""

    place: SiteKey
    expression: str
    code: str | None
    instead: str | None = None  # what to write there
    count: int = 0
    total_ns: int = 0
    longest_ns: int = 0
    paired: int = 0
    warned: int = 0
    starved: tuple[int, int] | None = None
    waits_of_steps: dict[int, Spread] = field(default_factory=dict)  # by the index of the process
    ns_of_steps: dict[int, Spread] = field(default_factory=dict)
    histogram: Counter[int] = field(default_factory=Counter)
    threads: Counter[str] = field(default_factory=Counter)
    ranks: Counter[str] = field(default_factory=Counter)
    rank_ns: Counter[str] = field(default_factory=Counter)
    detectors: set[str] = field(default_factory=set)
    stacks: Counter[tuple[str, ...]] = field(default_factory=Counter)

    @property
    def per_step(self) -> float | None:
        """The synchronizations per steady step; None outside of steps."""
        steps = sum(spread.steps for spread in self.waits_of_steps.values())
        return self.count / steps if steps else None


def collect(
    processes: Sequence[Process], blame: Blame, sources: Sources
) -> tuple[list[Site], dict[tuple[int, int], Site]]:
    """Return the sites, the longest blocked first, and the site of each event by (process index, event number)."""
    sites: dict[SiteKey, Site] = {}
    of_wait = {}
    for index, process in enumerate(processes):
        for wait in process.waits:
            place, ways = _place(wait, process, blame, sources)
            site = sites.get(place)
            if site is None:
                site = sites[place] = Site(
                    place, sources.text(place), *(sources.explanation(place, ways) or (None, None))
                )
            _add(site, wait, process)
            of_wait[index, wait.number] = site
            if place.in_step and place.phase == "steady":
                _add_steps(site, wait, index, (process.steps or {}).get("steady", 0))
    return sorted(sites.values(), key=lambda site: (-site.total_ns, -site.count)), of_wait


def _place(wait: Wait, process: Process, blame: Blame, sources: Sources) -> tuple[SiteKey, str]:
    api, _, way = wait.api.partition(":")
    way, *remarks = way.split(":")
    if wait.paired >= wait.count:  # a synchronization of the stream completed each copy
        api = "cudaStreamSynchronize"
    frame = _forward_frame(wait, blame, process)
    frame = frame or blame.choose(wait.frames, *_folders(process), sources.noted)
    phase = phase_of(wait)
    place = SiteKey(
        frame.path,
        frame.line,
        sources.column(frame.path, frame.line, frame.column),
        frame.end_line,
        sources.column(frame.path, frame.end_line, frame.end_column),
        frame.function,
        api,
        "steady" if phase == "outside" else phase,
        phase != "outside" and wait.phase != "outside",
        wait.allowed,
        wait.node[0] if wait.node else None,
        "graph" in remarks,
        "uncomputed" in remarks,
    )
    return place, way


def _forward_frame(wait: Wait, blame: Blame, process: Process) -> Frame | None:
    """Return the forward line to blame in backward under anomaly mode; None where none outside torch passes."""
    torch_folder, library = _folders(process)
    found = filter(None, map(_FORWARD_LINE.match, reversed(wait.node[1] if wait.node else ())))
    frames = [
        Frame(path, name, int(line), None, None, None) for path, line, name in map(re.Match.groups, found)
    ]
    outside = [
        frame for frame in frames if not in_torch(frame.path, torch_folder) and blame.passes(frame.path)
    ]
    return blame.choose(outside, torch_folder, library) if outside else None


def _folders(process: Process) -> tuple[str, str]:
    """Return the folders of torch and of the standard library."""
    return process.torch.get("folder", ""), process.torch.get("library", "")


def phase_of(wait: Wait) -> str:
    """Return the phase of an event: that of its steps, "outside" of them, "compile" or "capture"."""
    paths = [frame.path for frame in wait.frames]
    if any(_COMPILING.search(path) for path in paths):
        return "compile"
    if any(_CAPTURING.search(path) for path in paths):
        return "capture"
    return wait.phase


def _add(site: Site, wait: Wait, process: Process) -> None:
    site.count += wait.count
    site.total_ns += wait.total_ns
    site.longest_ns = max(site.longest_ns, wait.longest_ns)
    site.paired += wait.paired
    site.warned += min(wait.warned, wait.count)
    site.histogram.update(wait.histogram)
    site.threads.update(wait.threads)
    rank = str(process.rank) if process.rank is not None else f"pid {process.pid}"
    site.ranks[rank] += wait.count
    site.rank_ns[rank] += wait.total_ns
    if wait.starved is not None:
        measured, total = site.starved or (0, 0)
        site.starved = (measured + wait.starved[0], total + wait.starved[1])
    site.detectors.add(_detector(wait, process))
    if wait.warned:
        site.detectors.add("debug-mode")
    site.stacks[tuple(f"{f.path}:{f.line}:{f.function}" for f in wait.frames)] += wait.count


def _add_steps(site: Site, wait: Wait, process: int, steps: int) -> None:
    site.waits_of_steps.setdefault(process, Spread(steps)).add(wait.count, wait.squares[0])
    site.ns_of_steps.setdefault(process, Spread(steps)).add(wait.total_ns, wait.squares[1])


class Sources:
    """The sources that a trace names; a file that is gone or has changed gives no text.

    ``texts`` holds the sources that no file holds, by their name.
    """

    def __init__(self, table: OperationTable, texts: Mapping[str, str] | None = None) -> None:
        self._table = table
        self.noted = noted = texts or {}
        self.read = cache(lambda path: noted[path] if path in noted else _read_source(path))
        self._lines = cache(lambda path: self.read(path).split("\n"))

    def column(self, path: str, line: int | None, offset: int | None) -> int | None:
        """Return the 1-based column in characters of a UTF-8 offset into a line."""
        if line is None or offset is None:
            return None
        lines = self._lines(path)
        if not 0 < line <= len(lines):
            return offset + 1
        return len(lines[line - 1].encode()[:offset].decode(errors="replace")) + 1

    def text(self, place: SiteKey) -> str:
        """Return the expression at a place, on one line; the whole line where there are no columns; or ""."""
        lines = self._lines(place.path)
        last = place.end_line or place.line
        if not 0 < place.line <= last <= len(lines):
            return ""
        part = lines[place.line - 1 : last]
        if place.column is not None and place.end_column is not None:
            part[-1] = part[-1][: place.end_column - 1]
            part[0] = part[0][place.column - 1 :]
        return " ".join(" ".join(head(part)).split())

    def explanation(self, place: SiteKey, way: str) -> tuple[str, str] | None:
        """Return the code of the rule that explains an event at a place, and its suggestion."""
        text = self.read(place.path)
        api = f"{place.api}:{way}" if way else place.api
        where = (place.line, place.column, place.end_line, place.end_column)
        return explain(text, *where, api, self._table) if text and place.line else None


def head(lines: list[str]) -> list[str]:
    """Return the head of a compound statement (`with`, `if`), and any other text as it is.

    The interpreter places a synchronization at the end of a `with` in the whole statement.
    """
    if not _COMPOUND.match(lines[0]):
        return lines
    depth, lambdas = 0, []  # the depths in brackets of the lambdas whose bodies have not begun
    try:
        for token in tokenize.generate_tokens(iter(f"{line}\n" for line in lines).__next__):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
            if token.string == "lambda":
                lambdas.append(depth)
            elif token.string == ":" and lambdas and lambdas[-1] == depth:
                lambdas.pop()
            elif token.string == ":" and depth == 0:
                row, column = token.end
                return [*lines[: row - 1], lines[row - 1][:column]]
    except (tokenize.TokenError, SyntaxError):  # the end of what was cut out of its file
        pass
    return lines


_COMPOUND = re.compile(r"\s*(async|class|def|for|if|match|try|while|with)\b")


def _read_source(path: str) -> str:
    try:
        source = read_file(Path(path), _MAX_SOURCE).decode("utf-8")
        return source.replace("\r\n", "\n").replace("\r", "\n")  # lines as Python counts them
    except (OSError, UnicodeDecodeError, ValueError):
        return ""


def to_json(site: Site, processes: Sequence[Process]) -> dict[str, Any]:
    """Return an entry of ``sites`` in the output contract."""
    place = site.place
    rule = rule_book().get(site.code) if site.code else None
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "function": place.function,
        "expression": site.expression,
        "code": site.code,
        "name": rule.name if rule else None,
        "instead": site.instead,
        "api": place.api,
        "count": site.count,
        "blocked_ns": {
            "total": site.total_ns,
            "max": site.longest_ns,
            "p50": quantile(site.histogram, 0.5),
            "p99": quantile(site.histogram, 0.99),
            "histogram": dict(sorted(site.histogram.items())),
        },
        "starved_ns": {"total": site.starved[1], "measured": site.starved[0]} if site.starved else None,
        "per_step": site.per_step,
        "step_spread": _step_spread(site),
        "phase": place.phase,
        "in_step": place.in_step,
        "allowed": place.allowed,
        "backward_of": place.node,
        "breaks_graph": place.breaks_graph,
        "uncomputed": place.uncomputed,
        "detectors": sorted(site.detectors),
        "missed_by": _missed_by(site, processes),
        "threads": dict(site.threads.most_common(8)),
        "ranks": dict(sorted(site.ranks.items())),
        "rank_ns": dict(sorted(site.rank_ns.items())),
        "stacks": [
            {"count": count, "frames": list(frames)} for frames, count in site.stacks.most_common(MAX_STACKS)
        ],
    }


def _step_spread(site: Site) -> dict[str, float] | None:
    if site.per_step is None:
        return None
    return {
        "syncs": pooled(site.waits_of_steps.values()),
        "blocked_ns": pooled(site.ns_of_steps.values()),
    }


def spot(path: str, line: int) -> str:
    """Return ``path:line``, or a stand-in without a line alone."""
    return f"{path}:{line}" if line else path


def _detector(wait: Wait, process: Process) -> str:
    if "simulated" in process.detectors:
        return "simulated"
    return "debug-mode" if wait.api == "debug-mode" else "cupti"


def _missed_by(site: Site, processes: Sequence[Process]) -> list[str]:
    """Return the detectors that miss this synchronization: by a run of both, or by the CUDA call."""
    both = any(len(process.detectors) > 1 for process in processes)
    blind = site.warned == 0 if both else site.place.api in BLIND_IN_DEBUG_MODE
    return ["debug-mode"] if blind and "debug-mode" not in site.detectors else []
