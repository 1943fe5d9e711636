"""The environment of a function at one point: the slots of its paths ``x``, ``self.x``, ``d["k"]``."""

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
    """The environment of one lowering, with an undo log.

    A branch costs only its bindings, however many names the function has. The log restores the environment,
    and a join of paths considers only the paths that changed.
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
        """Unbind a path."""
        if path in self:
            if self._marks:
                self._undo.append((path, self[path]))
            del self[path]

    def forget_inside(self, path: str) -> None:
        """Unbind all longer paths that begin with a path."""
        for longer in self._longer.pop(path, ()):
            self.forget(longer)

    def _note_beginnings(self, path: str) -> None:
        for beginning in _beginnings(path):
            self._longer.setdefault(beginning, {})[path] = None

    def begin(self) -> int:
        """Return a mark for `rewind` or `undo`; marks end in reverse order."""
        self._marks += 1
        return len(self._undo)

    def changes(self, mark: int) -> Changes:
        """Return the changes since a mark."""
        return {path: self.get(path) for path, _ in self._undo[mark:]}

    def rewind(self, mark: int) -> Changes:
        """Restore the environment at a mark, which ends; return the changes undone."""
        changes = self.changes(mark)
        self.undo(mark)
        return changes

    def undo(self, mark: int) -> None:
        """Restore the environment at a mark, which ends."""
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
        """Apply changes."""
        for path, value in changes.items():
            if value is None:
                self.forget(path)
            else:
                self[path] = value

    def meet(self, *ends: Changes, phi: Phi) -> Changes:
        """Return the changes at the join of several paths that begin here; a name bound on some of them stays bound."""
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
    """An iteration of a loop, with the changes at each ``break`` and ``continue``."""

    start: int
    broken: list[Changes] = field(default_factory=list)
    continued: list[Changes] = field(default_factory=list)


@functools.lru_cache(maxsize=65536)
def _beginnings(path: str) -> tuple[str, ...]:
    """Return the proper prefixes of a path: ``self`` and ``self.x`` for ``self.x[0]``."""
    return tuple(path[: found.start()] for found in _JOINT.finditer(path))
