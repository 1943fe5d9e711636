"""Findings that `syncscan check` shows by default, drawn at random, and the totals of such a sample after a reader has judged it.

    python benchmarks/sample.py draw COUNT RELEASE[:FOLDER] ... [--seed N] [--suggestions]   print a sample, to be judged
    python benchmarks/sample.py score [FILE]                                                 print the totals of the judgements
    python benchmarks/sample.py entries [FILE]                                               print how many first entries are to act on
    python benchmarks/sample.py again FILE ...                                               print what the check of today says of judged findings
    python benchmarks/sample.py order FILE ...                                               print how good the first of them are in its reports

A sample has equally many findings of each release, such as kornia==0.9.0:kornia, as tab-separated lines. A reader
fills in two columns, see `labels/README.md`; the judged samples that the documentation quotes are `labels/judged.tsv`.
With `--suggestions` the lines are those of `labels/suggestions.tsv`, which `said.py` counts, and only findings with a
suggestion of their own are drawn.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from labels import CACHE, check, fetch, hidden, share
from said import is_offered

COLUMNS = ("release", "path", "line", "code", "when", "expression", "blocks", "runs", "note")
SUGGESTED = ("sample", "release", "path", "line", "code", "suggestion", "taken", "reason")
LABELS = Path(__file__).parent / "labels"
JUDGED = {"score": LABELS / "judged.tsv", "entries": LABELS / "entries.tsv"}


def main() -> None:
    """Draw or score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    actions = parser.add_subparsers(dest="action", required=True)
    drawing = actions.add_parser("draw")
    drawing.add_argument("count", type=int, help="how many of each release")
    drawing.add_argument("release", nargs="+", metavar="RELEASE[:FOLDER]")
    drawing.add_argument("--seed", type=int, default=0)
    drawing.add_argument("--suggestions", action="store_true", help="print what each finding suggests")
    drawing.add_argument("--sources", type=Path, default=CACHE, help="where releases are kept")
    for action, judged in JUDGED.items():
        actions.add_parser(action).add_argument("file", nargs="?", type=Path, default=judged)
    checking = actions.add_parser("again")
    ordering = actions.add_parser("order")
    for action in (checking, ordering):
        action.add_argument("files", nargs="+", type=Path)
        action.add_argument("--sources", type=Path, default=CACHE, help="where releases are kept")
    options = parser.parse_args()
    if options.action == "draw":
        draw(options)
    elif options.action == "again":
        check_again(rows_of(options.files), options.sources)
    elif options.action == "order":
        check_order(rows_of(options.files), options.sources)
    else:
        rows = rows_of([options.file])
        print_scores(rows) if options.action == "score" else print_entries(rows)


def draw(options: argparse.Namespace) -> None:
    """Print so many findings of each release, in the order of the files."""
    columns = SUGGESTED if options.suggestions else COLUMNS
    writer = csv.DictWriter(sys.stdout, columns, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    for name in options.release:
        release, _, folder = name.partition(":")
        findings, _ = check(fetch(release, options.sources), {folder or "."})
        if options.suggestions:  # what a rule says of all its sites suggests no code for this one
            findings = [finding for finding in findings if is_offered(finding["fix"]["description"])]
        count = min(options.count, len(findings))
        chosen = random.Random(f"{options.seed} {release}").sample(range(len(findings)), count)  # noqa: S311 (a sample, no secret)
        for position in sorted(chosen):
            finding = findings[position]
            row = {column: finding.get(column, "") for column in columns}
            shown = {"release": release, "suggestion": finding["fix"]["description"]}
            shown["expression"] = " ".join(finding["expression"].split())
            writer.writerow({**row, **{column: text for column, text in shown.items() if column in columns}})


def print_scores(rows: list[dict[str, str]]) -> None:
    """Print how many findings block, and how many of these run per step, for each release and for all."""
    for name, judged in by_release(rows):
        blocking = [row for row in judged if row["blocks"] == "yes"]
        runs = Counter(row["runs"] for row in blocking)
        print(
            f"{name}: {share(len(blocking), len(judged))} block, of these {share(runs['step'], len(blocking))} per step,"
            f" {runs['once']} once, {runs['untold']} cannot be told; {claims(blocking)}"
        )


def rows_of(files: list[Path]) -> list[dict[str, str]]:
    """Return the judged findings in some files."""
    rows: list[dict[str, str]] = []
    for file in files:
        with file.open(newline="") as stream:
            rows += csv.DictReader(stream, delimiter="\t")
    return rows


def check_again(rows: list[dict[str, str]], sources: Path) -> None:
    """Print which judged findings the check of today shows, and how often their frequency is that of the readers."""
    for name, judged in by_release(rows):
        if name != "all":
            print(f"checking {name}", file=sys.stderr)
            release, _, folder = name.partition(":")
            findings, _ = check(fetch(release, sources), {folder or "."}, "--when", "all")
            for row in judged:
                row["when"] = next((said_of(each) for each in findings if is_judged(each, row)), "")
        shown = [row for row in judged if row["when"] not in {"", "once", "test"}]
        blocking = [row for row in shown if row["blocks"] == "yes"]
        step = [row for row in blocking if row["when"] == "step"]
        print(
            f"{name}: {len(shown)} of {len(judged)} are shown, {share(len(blocking), len(shown))} of these block;"
            f" `step` is right for {share(sum(row['runs'] == 'step' for row in step), len(step))}"
        )


FIRST = 3, 6


def check_order(rows: list[dict[str, str]], sources: Path) -> None:
    """Print how many of the judged findings that the report of today names first a reader would act on, or found to block in each step."""
    totals = {first: Counter[bool]() for first in FIRST}
    for name, judged in by_release(rows)[:-1]:
        release, _, folder = name.partition(":")
        places = in_order(fetch(release, sources), folder or ".")
        found = {place: row for row in judged if (place := place_of(row, places)) is not None}
        verdicts = [is_worth_acting(found[place]) for place in sorted(found)]
        for first in FIRST:
            totals[first].update(verdicts[:first])
        print(f"{name}: {' '.join('+' if each else '-' for each in verdicts)}", flush=True)
    for first, counts in totals.items():
        print(f"first {first} of each: {share(counts[True], counts.total())} to act on")


def in_order(source: Path, folder: str) -> list[tuple[str, str, str]]:
    """Return the file, the line and the rule of each finding that a report of a folder shows, in the order of the report."""
    command = [
        *(sys.executable, "-m", "syncscan", "check", "--isolated", "--environment", "none"),
        *("--output-format", "concise", folder),
    ]
    answer = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if answer.returncode not in {0, 1}:
        sys.exit(f"syncscan check failed on {source}: {answer.stderr}")
    found = (re.match(r"(.+?):(\d+):\d+: (SYN\d+) ", line) for line in answer.stdout.splitlines())
    return [(match[1], match[2], match[3]) for match in found if match is not None]


def place_of(row: dict[str, str], places: list[tuple[str, str, str]]) -> int | None:
    """Return the place of a judged finding in a report; None where the report does not show it."""
    for place, (path, line, code) in enumerate(places):
        if (line, code) == (row["line"], row["code"]) and f"/{path}".endswith(f"/{row['path']}"):
            return place
    return None


def is_worth_acting(row: dict[str, str]) -> bool:
    """Return whether a reader would act on a finding; of one outside the first entries, whether the line blocks in each step."""
    return row["act"] == "yes" if "act" in row else (row["blocks"], row["runs"]) == ("yes", "step")


def is_judged(finding: dict[str, Any], row: dict[str, str]) -> bool:
    """Return whether a row judges a finding; some wheels have their code in a folder of another name."""
    is_there = (str(finding["line"]), finding["code"]) == (row["line"], row["code"])
    return is_there and f"/{finding['path']}".endswith(f"/{row['path']}")


def said_of(finding: dict[str, Any]) -> str:
    """Return the frequency that the check says, "" for a finding that it does not show; what only evaluation runs has one of its own."""
    if hidden(finding):
        return ""
    return "evaluation" if finding.get("evaluation") else str(finding["when"])


def claims(blocking: list[dict[str, str]]) -> str:
    """Return how often the frequency that the check reports is that of the reader."""
    shown = Counter((row["when"], row["runs"]) for row in blocking)
    step = [count for (when, _), count in shown.items() if when == "step"]
    return f"`step` is right for {share(shown['step', 'step'], sum(step))}"


def print_entries(rows: list[dict[str, str]]) -> None:
    """Print how many of the first entries a maintainer would act on, for each release and for all."""
    for name, judged in by_release(rows):
        print(f"{name}: {share(sum(row['act'] == 'yes' for row in judged), len(judged))} to act on")


def by_release(rows: list[dict[str, str]]) -> list[tuple[str, list[dict[str, str]]]]:
    """Return the rows of each release under its name, and all rows."""
    releases = list(dict.fromkeys(row["release"] for row in rows))
    return [*((name, [row for row in rows if row["release"] == name]) for name in releases), ("all", rows)]


if __name__ == "__main__":
    main()
