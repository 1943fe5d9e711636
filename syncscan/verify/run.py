"""One run of the command in the scratch copy: its exit status, the outcome of each test, and the lines that ran and synchronized."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from syncscan.errors import SyncscanError
from syncscan.trace.lines import Ranges
from syncscan.trace.trace import why_untraced
from syncscan.verify.scratch import Scratch

_PYTEST = {"pytest", "py.test", "pytest.exe"}
# The tracer imports modules from the places where this process imports them, and none of the copy, whose folder comes first with -c.
_TRACER = (
    f"import sys; sys.path[:] = sys.argv.pop(1).split({os.pathsep!r}); from syncscan.cli import main; main()"
)


@dataclass(frozen=True, slots=True)
class LineSyncs:
    """How often one line of a file of the project synchronized, in all and in a step of the steady state."""

    path: str  # relative to the project
    line: int
    count: int
    per_step: float


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of a run."""

    status: int
    tests: dict[str, str]  # by name: "passed", "failed", "error" or "skipped"
    waits: tuple[LineSyncs, ...]
    lines: Ranges | None = None  # that ran, by path in the project; None if the program's Python records none
    steps: dict[str, Any] | None = None  # the steps of the trace; None without `--step`
    untraced: str = ""  # the reason why nothing was traced; "" if something was

    @property
    def count(self) -> int:
        """Return the number of synchronizations."""
        return sum(each.count for each in self.waits)

    @property
    def per_step(self) -> float:
        """Return the number of synchronizations per step in the steady state."""
        return sum(each.per_step for each in self.waits)

    def to_json(self) -> dict[str, object]:
        """Return the run as plain data."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Run:
        """Return the run that plain data describe."""
        waits = tuple(LineSyncs(**each) for each in data["waits"])
        return cls(**data | {"waits": waits})


@dataclass(frozen=True, slots=True)
class TracedCommand:
    """The words of the user's command, and the way to trace the command."""

    words: tuple[str, ...]
    gpu: bool = False
    step: str = ""

    @property
    def runs_pytest(self) -> bool:
        """Return whether the outcome of each test can be asked for."""
        return any(Path(word).name in _PYTEST for word in self.words)

    def run(self, scratch: Scratch) -> Run:
        """Run the command in the scratch copy, on a simulated or a real GPU."""
        with tempfile.TemporaryDirectory(prefix="syncscan-") as name:
            trace, tests = Path(name) / "trace", Path(name) / "tests.xml"
            options = ["--lines", *([] if self.gpu else ["--simulate"])]
            options += ["--step", self.step] if self.step else []
            environment = scratch.environment()
            if self.runs_pytest:
                added = f"{environment.get('PYTEST_ADDOPTS', '')} --junitxml={tests}"
                environment["PYTEST_ADDOPTS"] = added.strip()
            # With -E no start-up hook of the copy runs in the tracer; its environment goes on to the command.
            ours = os.pathsep.join(map(os.path.abspath, sys.path))
            tracer = [sys.executable, "-E", "-c", _TRACER, ours, "trace", *options, "-o", str(trace), "--"]
            log = Path(name) / "stderr"
            with log.open("wb") as stderr:  # processes that the command leaves running would hold a pipe open
                done = subprocess.run(
                    [*tracer, *scratch.command(self.words)],
                    cwd=scratch.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    check=False,
                )
            if not (trace / "trace.json").exists():
                said = (
                    log.read_text("utf-8", errors="replace")
                    .strip()
                    .rpartition("\n")[2]
                    .removeprefix("syncscan: ")
                )
                raise SyncscanError(
                    f"no trace was made of the command: {said or f'exit status {done.returncode}'}"
                )
            return _read(trace / "trace.json", tests, scratch.folder)


def _read(trace: Path, tests: Path, folder: Path) -> Run:
    data = json.loads(trace.read_text(encoding="utf-8"))
    waits = [
        LineSyncs(path, site["line"], site["count"], site["per_step"] or 0.0)
        for site in data["sites"]
        if (path := _inside(site["path"], folder)) is not None
    ]
    lines = data["lines"]
    if lines is not None:
        lines = {
            inside: ranges for path, ranges in lines.items() if (inside := _inside(path, folder)) is not None
        }
    return Run(data["exit_status"], _outcomes(tests), tuple(waits), lines, data["steps"], why_untraced(data))


def _inside(path: str, folder: Path) -> str | None:
    """Return the path of a site in the project; None for a path outside."""
    whole = (folder / path).resolve()
    return whole.relative_to(folder.resolve()).as_posix() if whole.is_relative_to(folder.resolve()) else None


def _outcomes(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    found: dict[str, str] = {}
    for case in ET.parse(file).iter("testcase"):  # noqa: S314 (pytest has just written it)
        outcome = next(
            (child.tag for child in case if child.tag in {"failure", "error", "skipped"}), "passed"
        )
        name = f"{case.get('classname')}::{case.get('name')}"
        found[name] = max(found.get(name, ""), "failed" if outcome == "failure" else outcome)
    return found
