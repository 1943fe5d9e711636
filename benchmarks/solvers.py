"""Compares the two solvers of the check on a folder: processor time, memory and findings.

    python -m benchmarks.solvers FOLDER... [--edits N] [--differences]

Each solver checks the folder once in a process of its own. Printed are the processor time as a multiple of what `ast.parse` takes for the
same files, the peak of memory, the findings, and how many of them only one solver has. ``--edits`` changes the bodies of N functions in
turn, and prints the time of each check in the same process. ``--differences`` prints the places that differ.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import multiprocessing
import random
import re
import resource
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from syncscan.check.engine import Engine
from syncscan.check.files import Source, SourceError, read_source
from syncscan.check.infer.solve.solver import SparseSolver
from syncscan.check.infer.solver import Solver
from syncscan.model import Conventions

_SOLVERS = {"present": Solver, "sparse": SparseSolver}
_BODY = re.compile(r"^( +)(?:return|[a-z_]+ = )", re.MULTILINE)


def main() -> None:
    """Check folders with both solvers, and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--edits", type=int, default=0)
    parser.add_argument("--differences", action="store_true")
    options = parser.parse_args()
    for folder in options.folders:
        found = {}
        for name in _SOLVERS:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                result = pool.apply(checked, (name, folder.resolve(), options.edits))
            found[name] = result["findings"]
            edits = result["edits"]
            after = f", edits {statistics.median(edits):.2f} s, at most {max(edits):.2f} s" if edits else ""
            print(
                f"{folder.name}, {name}: ast.parse {result['parse']:.2f} s, check {result['seconds'] / result['parse']:.1f} times that, "
                f"{result['peak']:.0f} MiB, {len(found[name])} findings{after}",
                flush=True,
            )
        gone, fresh = found["present"] - found["sparse"], found["sparse"] - found["present"]
        print(f"{folder.name}: {len(gone)} only by the present solver, {len(fresh)} only by the sparse one")
        for sign, places in (("-", gone), ("+", fresh)) if options.differences else ():
            for place in sorted(places):
                print(f"  {sign} {place}")


def checked(name: str, folder: Path, edits: int) -> dict[str, Any]:
    """Check a folder with one solver; what it took, and the findings by place and code."""
    sources: dict[str, Source] = {}
    for path in sorted(folder.rglob("*.py")):
        with contextlib.suppress(SourceError):
            source = read_source(path, folder, {})
            sources[source.shown] = source
    began = time.process_time()
    for source in sources.values():
        with contextlib.suppress(SyntaxError, ValueError):
            ast.parse(source.text)
    parse = time.process_time() - began
    engine = Engine(Conventions(), solver=_SOLVERS[name])

    def check() -> tuple[float, set[str]]:
        began = time.process_time()
        result = engine.check([*sources.values()], None, lambda *_: None)
        seconds = time.process_time() - began
        return seconds, {f"{each.path}:{each.line}:{each.column}: {each.code}" for each in result.findings}

    seconds, findings = check()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rng = random.Random(1)  # noqa: S311 (the same edits each time)
    took = []
    for number in range(edits):
        shown = rng.choice([shown for shown, each in sources.items() if _BODY.search(each.text)])
        place = rng.choice([*_BODY.finditer(sources[shown].text)])
        text = sources[shown].text
        changed = f"{text[: place.start()]}{place[1]}edited_{number} = {number}\n{text[place.start() :]}"
        with contextlib.suppress(SyntaxError):
            ast.parse(changed)
            sources[shown] = replace(sources[shown], text=changed)
            took.append(check()[0])
    return {"parse": parse, "seconds": seconds, "peak": peak, "findings": findings, "edits": took}


if __name__ == "__main__":
    main()
