"""Prints the judged texts of findings, for docs/accuracy.md, from labels/said.tsv and labels/suggestions.tsv.

    python benchmarks/said.py

`labels/README.md` says how they were judged; `sample.py` draws others.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

from labels import share
from syncscan.rules._suggestions import TABLE

from syncscan.rule import rule_book

JUDGED = Path(__file__).parent / "labels" / "said.tsv"
SUGGESTIONS = Path(__file__).parent / "labels" / "suggestions.tsv"
QUESTIONS = ("operand", "evidence", "suggestion")


def main() -> None:
    """For each sample, how many findings are right in each respect, of those that were still there."""
    answers: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    with JUDGED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for question in QUESTIONS:
                answers[row["sample"]][question][row[question]] += 1
    for sample, of in answers.items():
        counts = [f"{question} {share(c['yes'], c['yes'] + c['no'])}" for question, c in of.items()]
        print(f"{sample}: {', '.join(counts)}")
    print_suggestions()


def print_suggestions() -> None:
    """For each sample, how many suggestions a maintainer would take as they stand."""
    taken: dict[str, Counter[str]] = defaultdict(Counter)
    offered: dict[str, Counter[str]] = defaultdict(Counter)
    with SUGGESTIONS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            taken[row["sample"]][row["taken"]] += 1
            offered[row["sample"]][row["taken"]] += is_offered(row["suggestion"])
    for sample, answers in taken.items():
        kept = offered[sample]
        print(
            f"{sample}: {share(answers['yes'], answers.total())} suggestions to take as they stand; "
            f"{share(kept['yes'], kept.total())} of those that are offered today"
        )


def is_offered(text: str) -> bool:
    """Return whether a text is one of the table of suggestions, and not the advice of a rule in general."""
    general = {rule.instead for rule in rule_book().values()}
    return text not in general and any(each.is_in(text) for each in TABLE.values())


if __name__ == "__main__":
    main()
