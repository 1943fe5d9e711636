"""The slots of the paths of one function at one point of it: ``x``, ``self.x``, ``d["k"]``."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from syncscan.check.infer.ir.instructions import Slot

# What is known of each path that changed since some point; None where nothing is known of it any more.
Changes = Mapping[str, Slot | None]
Phi = Callable[[tuple[Slot, ...]], Slot]  # joins slots where paths meet
_JOINT = re.compile(r"[.\[]")


class Environment(dict[str, Slot]):
    """The one environment of an evaluation, which remembers how to go back.

    A branch costs what it binds, however many names the function has: its changes are taken down and taken
    back, and where paths meet only what changed on one of them is joined.
    """

    __slots__ = ("_longer", "_marks", "_undo")

    def __init__(self) -> None:
        super().__init__()
        self._undo: list[
            tuple[str, Slot | None]
        ] = []  # what was known before each change, while one may be undone
        self._marks = 0
        self._longer: dict[str, dict[str, None]] = {}  # paths that may be known, by what they begin with

    def __setitem__(self, path: str, value: Slot) -> None:
        if self._marks:
            self._undo.append((path, self.get(path)))
        dict.__setitem__(self, path, value)
        if "." in path or "[" in path:
            self._note_beginnings(path)

    def forget(self, path: str) -> None:
        """Know nothing more of a path."""
        if path in self:
            if self._marks:
                self._undo.append((path, self[path]))
            del self[path]

    def forget_inside(self, path: str) -> None:
        """Know nothing more of what begins with a path."""
        for longer in self._longer.pop(path, ()):
            self.forget(longer)

    def _note_beginnings(self, path: str) -> None:
        for beginning in _beginnings(path):
            self._longer.setdefault(beginning, {})[path] = None

    def begin(self) -> int:
        """A mark to which `rewind` goes back; marks are given back in the order opposite to that of their making."""
        self._marks += 1
        return len(self._undo)

    def changes(self, mark: int) -> Changes:
        """What has changed since a mark."""
        return {path: self.get(path) for path, _ in self._undo[mark:]}

    def rewind(self, mark: int) -> Changes:
        """Go back to a mark, which ends it; what had changed since."""
        changes = self.changes(mark)
        self.undo(mark)
        return changes

    def undo(self, mark: int) -> None:
        """Go back to a mark, which ends it."""
        while len(self._undo) > mark:
            path, value = self._undo.pop()
            if value is None:
                self.pop(path, None)
            else:
                dict.__setitem__(self, path, value)
                if "." in path or "[" in path:
                    self._note_beginnings(path)
        self._marks -= 1

    def apply(self, changes: Changes) -> None:
        """Make changes."""
        for path, value in changes.items():
            if value is None:
                self.forget(path)
            else:
                self[path] = value

    def meet(self, *ends: Changes, phi: Phi) -> Changes:
        """What changes where several paths meet that begin here; a name known on some of them only stays known."""
        if len(ends) == 1:
            return ends[0]
        values: dict[str, list[Slot | None]] = {}
        unchanged: set[str] = set()  # on one of the paths before
        for position, end in enumerate(ends):
            for path, value in end.items():
                known = values.setdefault(path, [])
                if len(known) < position and path not in unchanged:
                    unchanged.add(path)
                    known.append(self.get(path))
                known.append(value)
        for path, known in values.items():
            if len(known) < len(ends) and path not in unchanged:
                known.append(self.get(path))
        return {path: _joined(path, known, phi) for path, known in values.items()}


def _joined(path: str, slots: Sequence[Slot | None], phi: Phi) -> Slot | None:
    known = [*dict.fromkeys(slot for slot in slots if slot is not None)]
    if not known or (None in slots and ("." in path or "[" in path)):
        return None
    return known[0] if len(known) == 1 else phi(tuple(known))


@dataclass(slots=True)
class Loop:
    """A round of a loop that is being run, and what had changed where its body was left by a statement for that."""

    start: int
    broken: list[Changes] = field(default_factory=list)
    continued: list[Changes] = field(default_factory=list)


@functools.lru_cache(maxsize=65536)
def _beginnings(path: str) -> tuple[str, ...]:
    """The shorter paths with which a path begins: ``self`` and ``self.x`` of ``self.x[0]``."""
    return tuple(path[: found.start()] for found in _JOINT.finditer(path))
