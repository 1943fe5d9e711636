"""Runs the programs alone and in another way, and prints every difference.

    python -m benchmarks.transparent [--way trace|simulate|pytest] [PART OF A NAME...]

needs a C compiler for the stand-in of CUDA. The way ``simulate`` is ``trace --simulate``, and ``pytest`` runs each
program in a test under ``pytest --syncscan=simulate``. In these two the programs run on torch as it is installed:
alone on the CPU, and else on a simulated GPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.transparent.compare import compare
from benchmarks.transparent.harness import (
    ROOT,
    WAYS,
    NoPythonError,
    build_fake_cuda,
    environment_with_fake_cuda,
    run,
)
from benchmarks.transparent.programs import Program, programs

Compared = tuple[dict[str, list[str]], set[str]]


def main() -> int:
    """Run and print; the exit status is 1 where a difference has no reason on the list."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--way", choices=WAYS, default="trace")
    parser.add_argument("parts", nargs="*", metavar="PART OF A NAME")
    chosen = parser.parse_args()
    way = WAYS[chosen.way]
    selected = {
        name: program
        for name, program in programs().items()
        if way.takes(program) and (not chosen.parts or any(part in name for part in chosen.parts))
    }
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(temporary)
        environment = environment_with_fake_cuda(build_fake_cuda(folder))
        if way.device_alone == "cpu":
            environment["PYTHONPATH"] = str(ROOT)

        def outcome(item: tuple[str, Program]) -> tuple[str, Compared | str]:
            name, program = item
            place = (
                folder / str(abs(hash(name))) / "work"
            )  # the same for both, since programs print their paths
            try:
                alone = run(program, place, environment, way, alone=True)
                return name, compare(name, alone, run(program, place, environment, way), chosen.way)
            except NoPythonError:
                return name, "not tried: no such Python here"

        for name, found in pool.map(outcome, selected.items()):
            if isinstance(found, str):
                counts[found] += 1
                continue
            unexplained, why = found
            counts[
                "DIFFERENT" if unexplained else "the same but for known differences" if why else "the same"
            ] += 1
            reasons.update(why)
            for aspect, lines in unexplained.items():
                print(f"DIFFERENT: {name}: {aspect}", flush=True)
                print("".join(f"    {line.rstrip()[:600]}\n" for line in lines), end="", flush=True)
    for reason, n in reasons.most_common():
        print(f"{n} programs: {reason}")
    told = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    print(f"{sum(counts.values())} programs, {way.name}: {told}")
    return 1 if counts["DIFFERENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
