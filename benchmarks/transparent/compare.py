"""Compares a run of a program with the run alone, less the differences that are known."""

from __future__ import annotations

import difflib
from dataclasses import fields

from benchmarks.transparent.harness import Outcome
from benchmarks.transparent.known import reduced


def compare(program: str, alone: Outcome, other: Outcome, way: str) -> tuple[dict[str, list[str]], set[str]]:
    """Return by its aspect each difference that has no reason, as lines of a diff, and the reasons of the others."""
    unexplained: dict[str, list[str]] = {}
    reasons: set[str] = set()
    for aspect in (field.name for field in fields(Outcome)):
        said = str(getattr(alone, aspect)), str(getattr(other, aspect))
        if said[0] == said[1]:
            continue
        left, why = reduced(program, aspect, said, way)
        reasons.update(why)
        if left[0] != left[1]:
            before, after = (text.splitlines(keepends=True) for text in left)
            unexplained[aspect] = list(difflib.unified_diff(before, after, "alone", way, n=0))
    return unexplained, reasons
