"""How many lines that synchronize the check finds in libraries under their own tests, and how many findings there are true.

    python -m benchmarks.simulated_truth.evaluate [--missed] [--expect | --accept] [LIBRARY ...]

Checks the releases whose truth is stored (`collect.py`) and prints totals by rule of the development half and of the
validation half. A line that synchronized is found where a finding holds it; a finding on a line that ran is true where
one of its lines synchronized. All findings count, whenever their lines run; the last row says what is shown without ``--all``.
``--missed`` names the places of the development half. ``--expect`` fails where a development library has become worse than
``expected.json`` says, and ``--accept`` writes that file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.releases import CACHE, fetch
from benchmarks.simulated_truth.truth import (
    DATA,
    DEVELOPMENT,
    HALVES,
    Finding,
    Truth,
    libraries,
    places,
    read,
    totals,
)

EXPECTED = Path(__file__).parent / "expected.json"
COUNTS = "known", "found default", "ran default", "true default"
Totals = dict[str, Counter[str]]


def main() -> None:
    """Print the totals of both halves."""
    options = parse_options()
    halves: dict[str, Totals] = {half: defaultdict(Counter) for half in HALVES}
    counted: Counter[str] = Counter()
    of_library: dict[str, dict[str, int]] = {}
    for library in options.library or libraries(options.data):
        truth = read(library, options.data)
        findings = check(truth, options.sources)
        by_rule = totals(truth, findings)
        for rule, counts in by_rule.items():
            halves[truth.half][rule].update(counts)
        counted[truth.half] += 1
        if truth.half == DEVELOPMENT:
            whole = sum(by_rule.values(), Counter())
            of_library[library] = {name: whole[name] for name in COUNTS}
            if options.missed:
                print_places(truth, findings)
    for half in HALVES:
        print_table(f"{half}, {counted[half]} libraries", halves[half])
    if options.accept:
        EXPECTED.write_text(json.dumps(of_library, indent=1) + "\n")
    elif options.expect and (worse := regressions(json.loads(EXPECTED.read_text()), of_library)):
        sys.exit("\n".join(worse))


def parse_options() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("library", nargs="*", metavar="LIBRARY")
    parser.add_argument("--missed", action="store_true", help="name the places of the development half")
    parser.add_argument("--expect", action="store_true", help="fail where a development library became worse")
    parser.add_argument("--accept", action="store_true", help="write what --expect holds against")
    parser.add_argument("--data", type=Path, default=DATA, help="where the truth is stored")
    parser.add_argument("--sources", type=Path, default=CACHE, help="where releases are kept")
    return parser.parse_args()


def check(truth: Truth, sources: Path) -> list[Finding]:
    """Return all findings of any confidence in the package of a release."""
    source = fetch(truth.release, sources)
    folder = min(
        (path.parent for path in source.rglob(truth.package) if path.is_dir()),
        key=lambda path: len(path.parts),
    )
    command = [
        sys.executable, "-m", "syncscan", "check", "--isolated", "--environment", "none", "--output-format", "json",
        "--when", "all", "--min-confidence", "assumed", truth.package,
    ]  # fmt: skip
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not answer.stdout:
        sys.exit(f"syncscan check failed on {truth.release}: {answer.stderr}")
    findings: list[Finding] = json.loads(answer.stdout)["findings"]
    return findings


def print_places(truth: Truth, findings: list[Finding]) -> None:
    """Print what is missed and what is false in a development library."""
    missed, false = places(truth, findings, "default")
    for path, line, rule in missed:
        print(f"missed {truth.library} {path}:{line} {rule}")
    for finding in false:
        print(f"false {truth.library} {finding['path']}:{finding['line']} {finding['code']}")


def print_table(title: str, by_rule: Totals) -> None:
    """Print the totals of a half by rule, and the sum."""
    print(f"\n| {title} | synchronized: found | at `assumed` | findings that ran: true | at `assumed` |")
    print("|---|---|---|---|---|")
    whole = sum(by_rule.values(), Counter())
    for rule, counts in [*sorted(by_rule.items()), ("all", whole)]:
        cells = [pair(counts, f"found {level}", "known") for level in ("default", "assumed")]
        cells += [pair(counts, f"true {level}", f"ran {level}") for level in ("default", "assumed")]
        print(f"| {rule} | {' | '.join(cells)} |")
    print(f"| shown | {pair(whole, 'found shown', 'known')} | | {pair(whole, 'true shown', 'ran shown')} | |")


def pair(counts: Counter[str], part: str, whole: str) -> str:
    """Return a part of a whole, in percent too."""
    return f"{counts[part]} of {counts[whole]} ({counts[part] / counts[whole]:.0%})" if counts[whole] else "-"


def regressions(expected: dict[str, dict[str, int]], now: dict[str, dict[str, int]]) -> list[str]:
    """Return in which libraries fewer lines are found, or more findings are false, than was expected."""
    worse = []
    for library, counts in now.items():
        before = expected.get(library)
        if before is None or before["known"] != counts["known"]:
            continue
        false, were_false = (each["ran default"] - each["true default"] for each in (counts, before))
        if counts["found default"] < before["found default"] or false > were_false:
            worse.append(
                f"{library}: {counts['found default']} found and {false} false,"
                f" where {before['found default']} and {were_false} were expected"
            )
    return worse


if __name__ == "__main__":
    main()
