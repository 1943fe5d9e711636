"""Checks much Python that nobody wrote for syncscan, and counts what it makes of it.

    python -m benchmarks.robustness corpora [NAME ...]   CPython's tests and releases, such as scipy==1.17.1
    python -m benchmarks.robustness mutants              real files, changed by chance
    python -m benchmarks.robustness programs             programs made up by hypothesmith

needs `pip install -e ".[bench]"`. Every folder is checked as a command twice, with different hash seeds and
with one and two processes. Each of its files is checked once alone, with proofs of its first functions, and with
proofs that take over the walks of those. For each folder there is a row with the processor
time of the first run, as a multiple of what `ast.parse` takes for the same files too, and the most memory
that all its processes had at once. Below it stands every fault: a traceback, a defect of syncscan, a wrong
exit status, a message of several lines, two different results, a run over its time or memory, a file that
takes much longer than others of its size. The files to which a fault is due are named; the exit status
is 1 where there is one. ``--json FILE`` also writes the figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.releases import CACHE
from benchmarks.robust import corpora, generated
from benchmarks.robust.trials import Limits, Row, total, trial


def main() -> None:
    """Print a row for each folder, and the faults below it."""
    options = parse_options()
    limits = Limits(options.memory * 2**30, options.slow)
    print(
        f"{'':32}{'files':>7}{'broken':>7}{'found':>7}{'cpu s':>8}{'parse':>7}{'ratio':>7}{'GiB':>6}{'faults':>7}"
    )
    rows: list[Row] = []
    for name, folder in folders(options):
        rows.append(trial(name, folder, limits))
        print_row(rows[-1])
        if options.json:
            options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", "utf-8")
    if len(rows) > 1:
        print_row(total(rows))
    sys.exit(1 if any(row.faults for row in rows) else 0)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["corpora", "mutants", "programs"])
    parser.add_argument("names", nargs="*", help="corpora, of which the mutants are made too")
    parser.add_argument("--count", type=int, help="how many files (mutants: 10000, programs: 2000)")
    parser.add_argument("--seed", type=int, default=1, help="of what is made by chance")
    parser.add_argument("--sources", type=Path, default=CACHE, help="where files are kept")
    parser.add_argument("--memory", type=int, default=8, metavar="GIB", help="how much one run may take")
    parser.add_argument("--slow", type=float, default=200, help="how much longer than ast.parse is too long")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    return parser.parse_intermixed_args()


def folders(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """What is to be checked: a name and a folder, one after the other."""
    names: Sequence[str] = options.names or (corpora.CPYTHON, *corpora.RELEASES)
    if options.what == "corpora":
        yield from ((name, corpora.fetch(name, options.sources)) for name in names)
    elif options.what == "mutants":
        sources = [corpora.fetch(name, options.sources) for name in names]
        yield from generated.mutants(sources, options.count or 10_000, options.seed, options.sources)
    else:
        yield from generated.programs(options.count or 2_000, options.seed, options.sources)


def print_row(row: Row) -> None:
    """One line of the table, and the faults."""
    print(
        f"{row.name:32}{row.files:7}{row.broken:7}{row.findings:7}{row.processor:8.1f}{row.parse:7.1f}{row.ratio:7.1f}"
        f"{row.peak / 2**30:6.2f}{len(row.faults):7}",
        flush=True,
    )
    for fault in row.faults:
        print(f"    {fault.text}: {', '.join(fault.files)}", flush=True)


if __name__ == "__main__":
    main()
