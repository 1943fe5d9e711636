"""Moves of lines by edits: evidence that an edit leaves true is carried to where its lines stand now."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from operator import itemgetter

from syncscan.check.infer.solve.public import Reasons
from syncscan.check.infer.solve.steps import chained
from syncscan.check.infer.source.merge import Moved
from syncscan.model import Evidence

_MOST = 8  # edits of a file, so that memory stays the same while somebody types


class Moves:
    """The moves of lines in all files of a project, by revision: the last ones of each file."""

    def __init__(self) -> None:
        self._of: dict[str, deque[tuple[int, list[Moved]]]] = {}
        # By file: the last revision whose moves are forgotten.
        self._forgotten: dict[str, int] = {}

    def note(self, path: str, moved: Sequence[Moved], revision: int) -> None:
        """Note where the unchanged lines of an edited file have moved."""
        moves = self._of.setdefault(path, deque(maxlen=_MOST))
        if len(moves) == _MOST:
            self._forgotten[path], _ = moves[0]
        moves.append((revision, sorted(moved)))

    def carried(self, reasons: Reasons, revision: int) -> Reasons | None:
        """Return a provenance with the lines of a revision, or None where one was edited since, or long ago."""
        steps = [*(reasons.found.chain() if reasons.found is not None else ()), *reasons.passed_too]
        lines = [self._line(step, reasons.revision) for step in steps]
        if None in lines:
            return None
        if lines == [step.line for step in steps]:
            return reasons._replace(revision=revision)
        now = [(step.path, line or 0, step.text) for step, line in zip(steps, lines, strict=True)]
        own = len(steps) - len(reasons.passed_too)
        too = tuple([Evidence(*each) for each in now[own:]])
        return Reasons(chained(now[:own]), too, reasons.rests_on, revision)

    def _line(self, step: Evidence, since: int) -> int | None:
        if self._forgotten.get(step.path, since) > since:
            return None
        line: int | None = step.line
        for revision, moved in self._of.get(step.path, ()):
            if revision > since and line:
                line = _moved(line, moved)
        return line


def _moved(line: int, moved: Sequence[Moved]) -> int | None:
    """Return where a line stands after an edit, or None for an edited line."""
    place = bisect_right(moved, line, key=itemgetter(0)) - 1
    if place < 0 or line > moved[place].last:
        return None
    return line + moved[place].down
