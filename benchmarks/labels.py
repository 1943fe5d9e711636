"""How many known blocking lines `syncscan check` finds in public releases, and how many of its findings did block.

    python benchmarks/labels.py [--missed] [RELEASE ...]

`labels/README.md` says what is known, and how. The releases, such as vllm==0.19.0, are downloaded once, with
pip; all of them are some 300 MB, and take about five minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from releases import CACHE, fetch

Finding = dict[str, Any]
Line = tuple[str, int]
Missed = tuple[str, int, range, str]  # the file, the first line, all lines, and more that is known
Score = tuple[Counter[str], list[Missed]]


def main() -> None:
    """Print what is found in each release, and the sums."""
    options = parse_options()
    known = {name: json.loads((options.labels / f"{name}.json").read_text()) for name in SCORES}
    releases = sorted({release for places in known.values() for release in places})
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for release in options.release or releases:
        if release not in releases:
            sys.exit(f"nothing is known of {release}; there are {', '.join(releases)}")
        source = fetch(release, options.sources)
        parts = {name: places[release] for name, places in known.items() if release in places}
        packages = {package_of(places) for places in parts.values()}
        every, seconds = check(source, packages, "--when", "all", "--min-confidence", "assumed")
        findings = [finding for finding in every if not hidden(finding)]
        print(f"{release}: {len(findings)} findings in {seconds:.0f} s")
        for name, places in parts.items():
            counts, missed = SCORES[name](places, findings)
            sums[name].update(counts)
            print(f"    {say(name, counts)}", flush=True)
            for path, first, lines, what in missed if options.missed else ():
                print(f"        missed {path}:{first}{what}{elsewhere(path, lines, every)}")
    print()
    for name, counts in sums.items():
        print(say(name, counts))


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("release", nargs="*", metavar="RELEASE", help="only these, such as vllm==0.19.0")
    parser.add_argument("--missed", action="store_true", help="name the places that are in no finding")
    parser.add_argument("--sources", type=Path, default=CACHE, help="where releases are kept")
    parser.add_argument("--labels", type=Path, default=Path(__file__).parent / "labels", help="what is known")
    return parser.parse_args()


def package_of(places: list[dict[str, Any]] | dict[str, Any]) -> str:
    """The top folder of the places in a release."""
    (package,) = {Path(place if isinstance(place, str) else place["path"]).parts[0] for place in places}
    return package


def check(source: Path, packages: set[str], *options: str) -> tuple[list[Finding], float]:
    """The findings of `syncscan check` in folders of a release, and the seconds it took."""
    start = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "syncscan",
        "check",
        "--isolated",
        "--environment",
        "none",
        "--output-format",
        "json",
        *options,
        *packages,
    ]
    answer = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if not answer.stdout:
        sys.exit(f"syncscan check failed on {source}: {answer.stderr}")
    return json.loads(answer.stdout)["findings"], time.perf_counter() - start


def hidden(finding: Finding) -> bool:
    """Whether a finding is not shown by default."""
    return finding["confidence"] == "assumed" or finding["when"] in {"once", "test"}


def score_labels(labels: list[dict[str, Any]], findings: list[Finding]) -> Score:
    """How many of the labelled statements have a finding that begins on one of their lines, or one that names such a line."""
    missed: list[Missed] = []
    for label in labels:
        lines = range(label["line"], label["line"] + label["lines"])
        if not begins_in(label["path"], lines, findings):
            missed.append((label["path"], label["line"], lines, f" {label['rule']} {label['change']}"))
    named = sum(bool(names(path, lines, findings)) for path, _, lines, _ in missed)
    return Counter(known=len(labels), found=len(labels) - len(missed), named=named), missed


def begins_in(path: str, lines: range, findings: list[Finding]) -> list[Finding]:
    """The findings that begin on some lines of a file."""
    return [finding for finding in findings if finding["path"] == path and finding["line"] in lines]


def names(path: str, lines: range, findings: list[Finding]) -> list[Finding]:
    """The findings elsewhere whose evidence, or whose callers, stand on some lines of a file."""
    return [
        finding
        for finding in findings
        if any(
            step["path"] == path and step["line"] in lines
            for step in (*finding["evidence"], *finding.get("passed_too", ()))
        )
    ]


def elsewhere(path: str, lines: range, every: list[Finding]) -> str:
    """What else is said of lines at which nothing is found by default."""
    found = [f"{finding['confidence']}, {finding['when']}" for finding in begins_in(path, lines, every)]
    shown = names(path, lines, [finding for finding in every if not hidden(finding)])
    named = [f"named by {finding['path']}:{finding['line']}" for finding in shown]
    said = [f"found as {found[0]}"] if found else named[:1]
    return f" ({said[0]})" if said else ""


def score_ran(files: dict[str, dict[str, str]], findings: list[Finding]) -> Score:
    """How many of the lines that blocked lie in a finding, and of the findings on lines that ran, how many blocked."""
    ran, waited = (
        {(path, line) for path, lines in files.items() for line in numbers(lines[which])}
        for which in ("ran", "waited")
    )
    lines_of = [lines_in(finding) for finding in findings]
    missed = waited.difference(*lines_of)
    counts = Counter(
        known=len(waited),
        found=len(waited) - len(missed),
        ran=sum(bool(lines & ran) for lines in lines_of),
        true=sum(bool(lines & waited) for lines in lines_of),
    )
    return counts, [(path, line, range(line, line + 1), "") for path, line in sorted(missed)]


def numbers(ranges: str) -> set[int]:
    """The numbers in text such as ``1-3 7``."""
    ends = [part.partition("-") for part in ranges.split()]
    return {number for first, _, last in ends for number in range(int(first), int(last or first) + 1)}


def lines_in(finding: Finding) -> set[Line]:
    """The lines of a finding."""
    return {(finding["path"], line) for line in range(finding["line"], finding["end_line"] + 1)}


SCORES = {"seeds": score_labels, "train": score_labels, "ran": score_ran}


def say(name: str, counts: Counter[str]) -> str:
    """The counts in words."""
    if name != "ran":
        named = f"; {counts['named']} more are named by a finding elsewhere" if counts["named"] else ""
        return f"{name}: {share(counts['found'], counts['known'])} labels found{named}"
    found, true = share(counts["found"], counts["known"]), share(counts["true"], counts["ran"])
    return f"{name}: {found} blocking lines found; {true} findings on lines that ran blocked"


def share(part: int, whole: int) -> str:
    """A part of a whole, in percent too."""
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "0 of 0"


if __name__ == "__main__":
    main()
