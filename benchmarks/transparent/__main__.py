"""Runs the programs alone and traced, and prints every difference.

    python -m benchmarks.transparent [--simulate] [PART OF A NAME...]

needs a C compiler for the stand-in of CUDA. With ``--simulate`` the programs run on torch as it is installed: alone
on the CPU, and under ``trace --simulate`` on a simulated GPU.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.transparent.harness import (
    ROOT,
    NoPythonError,
    Outcome,
    build_fake_cuda,
    diff,
    differences,
    environment_with_fake_cuda,
    run,
)
from benchmarks.transparent.known import reason
from benchmarks.transparent.programs import Program, programs


def main(words: list[str]) -> int:
    """Run and print; the exit status is 1 where a difference has no reason on the list."""
    simulate = "--simulate" in words
    parts = [word for word in words if not word.startswith("--")]
    chosen = {n: p for n, p in programs().items() if not parts or any(part in n for part in parts)}
    if simulate:
        chosen = {n: p for n, p in chosen.items() if not p.version}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(temporary)
        environment = environment_with_fake_cuda(build_fake_cuda(folder))
        if simulate:
            environment["PYTHONPATH"] = str(ROOT)
        way = "trace --simulate" if simulate else "trace"

        def compare(item: tuple[str, Program]) -> tuple[str, dict[str, tuple[object, object]] | None]:
            name, program = item
            place = folder / str(abs(hash(name))) / "work"
            try:
                return name, differences(*_both(program, place, environment, simulate=simulate))
            except NoPythonError:
                return name, None

        for name, found in pool.map(compare, chosen.items()):
            if found is None:
                counts["not tried: no such Python here"] += 1
                continue
            diffs = {aspect: diff(*pair, way) for aspect, pair in found.items()}
            known = {aspect: reason(name, aspect, lines) for aspect, lines in diffs.items()}
            kind = "the same" if not found else "known" if all(known.values()) else "DIFFERENT"
            counts[kind] += 1
            for aspect, lines in diffs.items():
                print(f"{kind}: {name}: {aspect}: {known[aspect] or ''}", flush=True)
                if not known[aspect]:
                    print("".join(f"    {line[:600]}\n" for line in lines), end="", flush=True)
    print(
        f"{sum(counts.values())} programs, {way}: " + ", ".join(f"{n} {kind}" for kind, n in counts.items())
    )
    return 1 if counts["DIFFERENT"] else 0


def _both(
    program: Program, place: Path, environment: dict[str, str], *, simulate: bool
) -> tuple[Outcome, Outcome]:
    """The run alone, and the other, in the same folder, since programs print their paths."""
    on_cpu = {"DEVICE": "cpu"} if simulate else {"DEVICE": "cuda"}
    alone = run(program, place, {**environment, **on_cpu}, None)
    options = ("--simulate",) if simulate else ()
    return alone, run(program, place, {**environment, "DEVICE": "cuda"}, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
