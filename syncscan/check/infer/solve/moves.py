"""Moves of lines by edits: evidence that an edit leaves true is carried to where its lines stand now."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import eq

from syncscan.check.infer.solve.public import Reasons
from syncscan.check.infer.source.edits import ModuleEdit
from syncscan.check.infer.source.syntax import walk
from syncscan.model import Evidence


@dataclass(frozen=True, slots=True)
class Move:
    """One edit of a file: lines up to ``above`` stay, and those from ``below`` on move ``down``; the others are edited."""

    above: int
    below: int  # in the file as it was
    down: int

    @classmethod
    def of(cls, before: Sequence[str], now: Sequence[str], tree: ast.AST) -> Move:
        """Return the move from one version of a file to another, which has a tree.

        An expression that reaches into the edited lines counts as edited from its start on.
        """
        above = _same(before, now)
        most = min(len(before), len(now)) - above
        below = _same(before[: -most - 1 : -1], now[: -most - 1 : -1])
        reaching = (
            node.lineno - 1
            for node in walk(tree)
            if isinstance(node, ast.expr) and node.lineno <= above < (node.end_lineno or 0)
        )
        return cls(min([above, *reaching]), len(before) - below + 1, len(now) - len(before))

    def line(self, line: int) -> int | None:
        """Return where a line stands now, or None for an edited one."""
        if line <= self.above:
            return line
        return line + self.down if line >= self.below else None


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two sequences have in common at their start."""
    return sum(takewhile(bool, map(eq, one, other)))


class Moves:
    """The moves of all files of a project, by revision."""

    def __init__(self) -> None:
        self._of: dict[str, list[tuple[int, Move]]] = {}

    def note(self, edit: ModuleEdit, revision: int) -> None:
        """Note the move of an edited file that was there before."""
        before, now = (lines.split() for lines in edit.texts)
        moves = self._of.setdefault(edit.module.path, [])
        moves.append((revision, Move.of(before, now, edit.module.tree)))

    def carried(self, reasons: Reasons, revision: int) -> Reasons | None:
        """Return a provenance with the lines of a revision, or None where one of its lines was edited since."""
        steps = [*(reasons.found.chain() if reasons.found is not None else ()), *reasons.passed_too]
        lines = [self._line(step, reasons.revision) for step in steps]
        if None in lines:
            return None
        if lines == [step.line for step in steps]:
            return reasons._replace(revision=revision)
        now = [Evidence(step.path, line or 0, step.text) for step, line in zip(steps, lines, strict=True)]
        own = len(steps) - len(reasons.passed_too)
        return Reasons(_chained(now[:own]), tuple(now[own:]), reasons.rests_on, revision)

    def _line(self, step: Evidence, since: int) -> int | None:
        line: int | None = step.line
        for revision, move in self._of.get(step.path, ()):
            if revision > since and line:
                line = move.line(line)
        return line


def _chained(steps: Sequence[Evidence]) -> Evidence | None:
    """Return the first of some steps, each with those behind it."""
    found: Evidence | None = None
    for step in reversed(steps):
        found = Evidence(step.path, step.line, step.text, found)
    return found
