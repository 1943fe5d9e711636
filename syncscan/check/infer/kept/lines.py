"""Lines that are kept in parts, of which each is read when one of its lines is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Parts = dict[str, str]  # lines, by what they are about

_LINES = 512  # of a part


def in_parts(name: str, lines: Sequence[str]) -> Parts:
    """Lines as parts."""
    starts = range(0, len(lines), _LINES)
    return {f"{name} {start // _LINES}": "\n".join(lines[start : start + _LINES]) for start in starts}


class KeptLines:
    """The lines of such parts, by their numbers."""

    def __init__(self, name: str, parts: Mapping[str, str]) -> None:
        self._name = name
        self._parts = parts
        self._read: dict[int, list[str]] = {}

    def __getitem__(self, number: int) -> str:
        part, line = divmod(number, _LINES)
        lines = self._read.get(part)
        if lines is None:
            lines = self._read[part] = self._parts[f"{self._name} {part}"].split("\n")
        return lines[line]
