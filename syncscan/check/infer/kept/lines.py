"""Serialised lines in parts of 512; the reader reads a part when one of its lines is first requested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice

Part = tuple[str, str]  # what lines are about, and the lines

_LINES = 512  # of a part


def in_parts(name: str, lines: Iterable[str]) -> Iterator[Part]:
    """Yield lines as parts, each with its name."""
    lines = iter(lines)
    for number in count():
        some = [*islice(lines, _LINES)]
        if not some:
            return
        yield f"{name} {number}", "\n".join(some)


class KeptLines:
    """The lines of such parts, by number."""

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
