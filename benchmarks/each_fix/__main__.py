"""Every fix of a project, safe or unsafe, one at a time, under the project's own tests.

    cd PROJECT && python -m benchmarks.each_fix PATH... [--cuda] [--tests 2] [--output FILE] -- PYTHON -m pytest TESTS

1. A copy of the project in which each line with a fix runs in both forms runs the tests. A line that a test reaches is compared: value,
   dtype, shape, strides, device, gradient or error.
2. Each fix whose line was reached is tried alone, as `syncscan fix --verify` does, on the tests that reached its line, at most so many.

Both run on a simulated GPU with ``--cuda``, and else on the CPU alone, where nothing synchronizes and a fix holds if all outcomes are the
same. Plugins for pytest: with ``-p tensors_on_cuda`` tensors are created on the GPU if the code names no device, and with
``-p few_of_each`` at most three sets of parameters of a test run. Prints a table and every fix that changes a result.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.each_fix.forms import with_both
from syncscan.check.discover import Project, load_project
from syncscan.check.fix import apply_edits, fixable
from syncscan.check.session import check
from syncscan.config import find_config
from syncscan.model import Finding, When
from syncscan.report.progress import ProgressBar
from syncscan.verify.run import Run, TracedCommand
from syncscan.verify.scratch import Scratch
from syncscan.verify.search import search

INSIDE = Path(__file__).parent / "inside"


@dataclass(frozen=True)
class Seen:
    """One test that reached the line of a fix, the device of what the line made, and how the two forms differed."""

    test: str
    device: str
    difference: str


Reached = dict[int, list[Seen]]  # by the number of a fix


def main() -> int:
    """Try the fixes; 1 where a fix holds in the tests and changes a value."""
    at = sys.argv.index("--")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--cuda", action="store_true", help="run on a simulated GPU")
    parser.add_argument("--tests", type=int, default=2, help="how many tests try a fix")
    parser.add_argument("--output", type=Path, help="a table of all fixes, tab-separated")
    options, command = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    start, root = time.monotonic(), Path.cwd().resolve()
    config = replace(find_config(root), when=tuple(When))
    project = load_project(options.paths, config, {})
    with ProgressBar(sys.stderr) as bar:
        fixes = fixable(check(project, config, bar, 0).findings, unsafe=True)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(INSIDE), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory(prefix="syncscan-") as folder:
        reached, compared = _compared(
            project, fixes, command, Scratch(Path(folder) / root.name, root), cuda=options.cuda
        )
        trials = _Trials(project, Scratch(Path(folder) / "alone" / root.name, root), options.cuda)
        verdicts = {}
        for number, seen in sorted(reached.items()):
            device = "cuda" if options.cuda else "cpu"
            tests = {each.test for each in seen if each.test and each.device == device}
            chosen = sorted(tests, key=lambda name: (len(name), name))[: options.tests]
            if chosen:
                verdicts[number] = trials.verdict(fixes[number], (*_without_tests(command), *chosen))
            else:
                verdicts[number] = f"made nothing on {device}"
            print(
                f"{fixes[number].path}:{fixes[number].line} {verdicts[number]}", file=sys.stderr, flush=True
            )
    rows = [
        _row(fix, number in compared, reached.get(number, []), verdicts.get(number, ""))
        for number, fix in enumerate(fixes)
    ]
    _print(rows, time.monotonic() - start)
    if options.output:
        with options.output.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, rows[0], delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return any(row["verdict"] == "verified" and row["difference"] for row in rows)


def _without_tests(command: Sequence[str]) -> list[str]:
    """Return a command of pytest without the files and folders of tests, so that others can be named."""
    start = next((place for place, word in enumerate(command) if Path(word).name == "pytest"), len(command))
    tests = {word for word in command[start + 1 :] if Path(word.partition("::")[0]).exists()}
    return [word for word in command if word not in tests]


def _compared(
    project: Project, fixes: Sequence[Finding], command: Sequence[str], scratch: Scratch, *, cuda: bool
) -> tuple[Reached, set[int]]:
    """Return what the tests saw of the lines that run in both forms, and the numbers of these fixes."""
    numbers: set[int] = set()
    by_path = defaultdict(list)
    for number, fix in enumerate(fixes):
        by_path[fix.path].append((number, fix))
    for source in project.sources:
        if source.shown in by_path:
            text, found = with_both(source.text, by_path[source.shown])
            numbers.update(found)
            scratch.write({source.path: text.encode()})
    seen = scratch.folder / "both-forms.tsv"
    seen.touch()
    os.environ["BOTH_FORMS"] = str(seen)
    simulate = [
        sys.executable,
        "-m",
        "syncscan",
        "trace",
        "--simulate",
        "-o",
        str(scratch.folder / "trace"),
        "--",
    ]
    with (scratch.folder / "log").open("wb") as log:
        subprocess.run(
            [*(simulate if cuda else []), *scratch.command(command)],
            cwd=scratch.folder, env=scratch.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
        )  # fmt: skip
    print((scratch.folder / "log").read_text(errors="replace")[-300:], file=sys.stderr)
    reached: Reached = defaultdict(list)
    for line in seen.read_text(encoding="utf-8").splitlines():
        number, *seen_there = line.split("\t", 3)
        reached[int(number)].append(Seen(*seen_there))
    return reached, numbers


class _Trials:
    """Runs of tests with one fix, and without any, once for the same tests."""

    def __init__(self, project: Project, scratch: Scratch, cuda: bool) -> None:
        self._sources = {source.shown: source for source in project.sources}
        self._scratch = scratch
        self._cuda = cuda
        self._without: dict[tuple[str, ...], Run] = {}

    def verdict(self, fix: Finding, command: tuple[str, ...]) -> str:
        """Return what `syncscan fix --verify` says of one fix; on the CPU, whether all outcomes stay the same."""

        def trial(chosen: Sequence[Finding]) -> Run:
            return self._with(fix, command) if chosen else self._without_any(command)

        if not self._cuda:
            outcomes = [(run.status, run.tests) for run in (trial(()), trial((fix,)))]
            return "same outcomes" if outcomes[0] == outcomes[1] else "other outcomes"
        verdicts = search((fix,), trial, lambda _: None)
        return "verified" if verdicts.verified else verdicts.refused[0][1]

    def _without_any(self, command: tuple[str, ...]) -> Run:
        if command not in self._without:
            self._without[command] = TracedCommand(command).run(self._scratch)
        return self._without[command]

    def _with(self, fix: Finding, command: tuple[str, ...]) -> Run:
        source = self._sources[fix.path]
        self._scratch.write({source.path: apply_edits(source.text, [fix]).encode()})
        try:
            return TracedCommand(command).run(self._scratch)
        finally:
            self._scratch.write({source.path: source.text.encode()})


def _row(fix: Finding, compared: bool, reached: Iterable[Seen], verdict: str) -> dict[str, str]:
    differences = sorted({each.difference for each in reached if each.difference})
    return {
        "path": fix.path,
        "line": str(fix.line),
        "code": fix.code,
        "fix": fix.fix.applicability.value,
        "both forms": "yes" if compared else "no",
        "tests": str(len({each.test for each in reached})),
        "difference": "; ".join(differences)[:200],
        "verdict": verdict,
    }


def _print(rows: Sequence[Mapping[str, str]], seconds: float) -> None:
    verdicts = Counter(row["verdict"] for row in rows if row["verdict"])
    print(f"{len(rows)} fixes; {sum(row['both forms'] == 'yes' for row in rows)} in both forms; ", end="")
    print(f"{sum(row['tests'] != '0' for row in rows)} reached by a test; ", end="")
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()), f"({seconds:.0f} s)")
    for row in rows:
        if row["difference"]:
            print(
                f"{row['path']}:{row['line']} {row['code']} {row['fix']} {row['verdict']}: {row['difference']}"
            )


if __name__ == "__main__":
    sys.exit(main())
