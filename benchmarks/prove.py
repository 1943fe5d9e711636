"""The share of synchronizing lines that `syncscan prove` names: the soundness of its obstacles.

    python -m benchmarks.prove [--missed] [LIBRARY ...]
    python -m benchmarks.prove [--missed] --given RUN PACKAGE_FOLDER

Takes the development libraries of the simulated truth and the three libraries whose waits were measured (`labels/ran.json`). For
each line that synchronized, the function around it is the entry point, so that no unknown callee of a caller is an excuse: one
obstacle has to hold the line itself. Printed are the shares of lines in each group, and the time that all walks of a library take as a
multiple of what `ast.parse` takes. A line in no group is a defect: the exit status is 1, and ``--missed`` names it.

With a trace of `syncscan trace --calls` the proofs are given the run, and the lines are those that synchronized in it.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.releases import CACHE, fetch
from benchmarks.simulated_truth.truth import DEVELOPMENT, half_of, libraries, read
from syncscan.check.engine import Engine
from syncscan.check.files import Source, SourceError, read_source
from syncscan.check.infer.source.index import Function, Module
from syncscan.check.nesting import deep_recursion
from syncscan.check.prove import everything as _everything  # noqa: F401 (it fills tables)
from syncscan.check.prove.answer import Group
from syncscan.check.prove.assumptions import Assumptions
from syncscan.check.prove.prover import Prover
from syncscan.check.prove.ran import Ran, RunSeen
from syncscan.check.prove.source import Definitions
from syncscan.commands.prove_given import run_seen
from syncscan.config import Config
from syncscan.model import Conventions, Finding
from syncscan.system.memory import steady_memory

LABELS = Path(__file__).parent / "labels" / "ran.json"
Lines = Mapping[str, set[int]]


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("library", nargs="*", metavar="LIBRARY")
    parser.add_argument("--missed", action="store_true", help="name the lines that are in no group")
    parser.add_argument("--sources", type=Path, default=CACHE, help="where releases are kept")
    parser.add_argument("--given", type=Path, metavar="RUN", help="a trace, of the one package that is named")
    options = parser.parse_args()
    whole: Counter[str] = Counter()
    print(
        "| library | lines that synchronized | "
        + " | ".join(each.value for each in Group)
        + " | in none | walks |"
    )
    print("|---|---|---|---|---|---|---|")
    if options.given:
        if len(options.library) != 1:
            parser.error("--given takes the folder of one package")
        results = iter([("run", held_given(options.given, Path(options.library[0])))])
    else:
        chosen = (each for each in truths() if not options.library or each[0] in options.library)
        results = ((name, held(options.sources, *truth)) for name, truth in chosen)
    for name, (counts, missed, cost) in results:
        whole.update(counts)
        print(row(name, counts, f"{cost:.1f} times ast.parse"), flush=True)
        for place in missed if options.missed else ():
            print(f"missed {name} {place}")
    print(row("all", whole, ""))
    sys.exit(whole["none"] > 0)


def truths() -> Iterator[tuple[str, tuple[str, str, Lines]]]:
    """Yield each library with its release, its package, and the lines that synchronized."""
    for library in libraries():
        if half_of(library) == DEVELOPMENT:
            truth = read(library)
            lines = {path: set(found) for path, found in truth.synced.items()}
            yield library, (truth.release, truth.package, lines)
    for release, files in json.loads(LABELS.read_text()).items():
        lines = {path: set(numbers_of(each["waited"])) for path, each in files.items() if each["waited"]}
        (package,) = {path.partition("/")[0] for path in files}
        yield release.partition("==")[0], (release, package, lines)


def numbers_of(text: str) -> Iterator[int]:
    """Yield the numbers in text such as ``1-3 7``."""
    for part in text.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def held(sources: Path, release: str, package: str, lines: Lines) -> tuple[Counter[str], list[str], float]:
    """Return the lines by the group that names them, those that none does, and the cost of all walks."""
    found = fetch(release, sources)
    folder = min(
        (path.parent for path in found.rglob(package) if path.is_dir()), key=lambda path: len(path.parts)
    )
    return walked(folder, [*sources_of(folder, package)], lines, None)


def held_given(trace: Path, folder: Path) -> tuple[Counter[str], list[str], float]:
    """Return the result of `held` for the lines that synchronized in a trace, over the files that ran."""
    trace, folder = trace.absolute(), folder.absolute()
    os.chdir(folder.parent)  # paths from there match those in a trace
    files = [*sources_of(folder.parent, folder.name)]
    run = run_seen([trace], Config(root=folder.parent), [file.shown for file in files])
    ran = [file for file in files if run.ran.get(file.shown)]
    lines = {relative(path, folder.parent): found for path, found in run.synchronized.items()}
    return walked(folder.parent, ran, lines, run)


def walked(
    folder: Path, files: list[Source], lines: Lines, run: RunSeen | None
) -> tuple[Counter[str], list[str], float]:
    """Check files and walk the functions around lines, or all without a run; return the lines by group."""
    began = time.process_time()
    for file in files:
        with contextlib.suppress(SyntaxError, ValueError):
            ast.parse(file.text)
    parse = time.process_time() - began
    engine = Engine(Conventions())
    findings = engine.check(files, None, lambda *_: None).findings
    assert engine.solver is not None
    began = time.process_time()
    with deep_recursion(), steady_memory():
        prover = Prover(Definitions(engine.solver), Assumptions(), Ran(run))
        modules = {relative(module.path, folder): module for module in prover.source.modules}
        for module in modules.values() if run is None else ():
            for function in module.functions:
                prover.walk(function)
        counts, missed = counted(prover, modules, lines, findings)
        cost = (time.process_time() - began) / parse
    return counts, missed, cost


def counted(
    prover: Prover, modules: Mapping[str, Module], lines: Lines, findings: list[Finding]
) -> tuple[Counter[str], list[str]]:
    """Return the lines by group, and those that are in none."""
    sure = {
        (finding.path, line)
        for finding in findings
        if finding.confidence.label != "assumed" and not finding.code.startswith(("SYN0", "SYN6"))
        for line in range(finding.line, finding.end_line + 1)
    }
    counts, missed = Counter[str](), []
    for path, numbers_here in sorted(lines.items()):
        for line in sorted(numbers_here):
            module = modules[path]
            groups = groups_at(prover, module, line)
            counts["lines"] += 1
            if not groups:
                missed.append(f"{path}:{line} {module.lines[line - 1].strip()}")
                counts["none"] += 1
            elif (module.path, line) in sure:
                counts[Group.SYNCHRONIZES.value] += 1
            else:
                counts[(Group.MAY if Group.MAY in groups else Group.UNKNOWN).value] += 1
    return counts, missed


def groups_at(prover: Prover, module: Module, line: int) -> set[Group]:
    """Return the groups of the obstacles at a line, in the function around it."""
    inside = [function for function in module.functions if holds(function, line)]
    lambdas = [
        each for each in prover.source.scopes.all_lambdas() if each.module is module and holds(each, line)
    ]
    around = max(inside, key=lambda function: getattr(function.node, "lineno", 0), default=module.body)
    walks = [prover.walk(function) for function in (around, *lambdas)]
    return {
        group
        for walk in walks
        if walk is not None
        for place, group in walk.obstacles
        if place.line <= line <= place.end_line
    }


def holds(function: Function, line: int) -> bool:
    """Return whether a line is of a function."""
    node = function.node
    return not isinstance(node, ast.Module) and node.lineno <= line <= (node.end_lineno or 0)


def sources_of(folder: Path, package: str) -> Iterator[Source]:
    """Yield the files of a package."""
    for path in sorted((folder / package).rglob("*.py")):
        with contextlib.suppress(SourceError):
            yield read_source(path, folder, {})


def relative(path: str, folder: Path) -> str:
    """Return a path as the truth has it."""
    return Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()


def row(name: str, counts: Counter[str], cost: str) -> str:
    """Return a row of the table."""
    cells = [str(counts["lines"]), *(share(counts[group.value], counts["lines"]) for group in Group)]
    return f"| {name} | {' | '.join(cells)} | {counts['none']} | {cost} |"


def share(part: int, whole: int) -> str:
    """Return a part of a whole, in percent too."""
    return f"{part} ({part / whole:.0%})" if whole else "-"


if __name__ == "__main__":
    main()
