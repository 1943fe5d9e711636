"""Where the processor time of a cold check goes, phase by phase, as a multiple of what `ast.parse` takes.

    python -m benchmarks.phases FOLDER [--findings FILE] [--lines]

One process checks the folder. Printed are the phases, each without those inside it. ``--findings`` writes every finding with all that is said of it, one a line: two states of syncscan find
the same where `cmp` finds the same files. ``--lines`` takes a sample every 4 ms and prints the functions in which most
of them fall; a profiler that is called at each call would count short functions many times too high.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import signal
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from operator import itemgetter
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.speed import parsed, timed
from syncscan.check import engine
from syncscan.check.files import Source, SourceError, read_source
from syncscan.check.infer.solve import solver
from syncscan.check.infer.solve.solver import Solver
from syncscan.check.match import Matcher
from syncscan.check.result import CheckResult
from syncscan.model import Conventions

_SAMPLE = 0.004  # seconds


def main() -> None:
    """Check a folder and print where the time went."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--findings", type=Path, help="write the findings there")
    parser.add_argument("--lines", action="store_true", help="sample the functions")
    options = parser.parse_args()
    folder = options.folder.resolve()
    parse, lines = parsed(folder)
    phases = Phases()
    samples = sampled() if options.lines else Counter()
    result = phases.check(folder)
    signal.setitimer(signal.ITIMER_PROF, 0)
    if options.findings is not None:
        options.findings.write_text("".join(f"{json.dumps(plain(one))}\n" for one in result.findings))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    whole = sum(phases.spent.values())
    print(f"{lines:,} lines, ast.parse {parse:.2f} s, {len(result.findings)} findings, {peak:.0f} MiB")
    for name, seconds in [("all", whole), *sorted(phases.spent.items(), key=itemgetter(1), reverse=True)]:
        print(f"    {name:16}{seconds:8.2f} s {seconds / parse:7.2f} times")
    print(f"    {phases.falls} values that an instruction gave and took back in the same round")
    for (file, name), count in samples.most_common(40):
        print(f"    {100 * count / samples.total():5.1f}% {file} {name}")


class Phases:
    """A check whose phases are timed, each without what runs inside it."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.falls = 0
        self._inside: list[float] = []
        for name in ("tree_of", "index_module", "load_table", "by_precedence", "frequencies"):
            self._watch(engine, name, name)
        self._watch(Solver, "__init__", "link")
        self._watch(solver, "lower", "lower")
        self._watch(Solver, "solve", "solve")
        self._count_falls()
        self._watch(Solver, "statements", "statements")
        self._watch(Matcher, "findings_in", "match")

    def check(self, folder: Path) -> CheckResult:
        """Check a folder as the command does."""
        os.chdir(folder)
        sources: list[Source] = []
        self.spent["read"] = timed(lambda: read_all(folder, sources))
        gc.disable()

        def work() -> CheckResult:
            return engine.check_sources(sources, None, Conventions(), lambda *_: None, jobs=1)

        result: CheckResult = self._timed("all else", work)()
        return result

    def _count_falls(self) -> None:
        owner: Any = Solver
        solve = owner.solve

        def counted(solver: Solver, *args: Any) -> None:
            solve(solver, *args)
            self.falls += solver.falls.total()

        owner.solve = counted

    def _watch(self, owner: Any, name: str, phase: str) -> None:
        setattr(owner, name, self._timed(phase, getattr(owner, name)))

    def _timed(self, phase: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            self._inside.append(0.0)
            try:
                return work(*args, **kwargs)
            finally:
                took = time.process_time() - start
                self.spent[phase] += took - self._inside.pop()
                if self._inside:
                    self._inside[-1] += took

        return watched


def read_all(folder: Path, sources: list[Source]) -> None:
    """Read the files of a folder that can be read."""
    for path in sorted(folder.rglob("*.py")):
        try:
            sources.append(read_source(path, folder, {}))
        except SourceError as error:
            warnings.warn(f"{path}: {error}", stacklevel=1)


def sampled() -> Counter[tuple[str, str]]:
    """Begin to count in which functions the program is."""
    found: Counter[tuple[str, str]] = Counter()

    def note(_signal: int, frame: FrameType | None) -> None:
        if frame is not None:
            found[Path(frame.f_code.co_filename).name, frame.f_code.co_name] += 1

    signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, _SAMPLE, _SAMPLE)
    return found


def plain(value: Any) -> Any:
    """A record as JSON has it, with all of its fields."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.name
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


if __name__ == "__main__":
    main()
