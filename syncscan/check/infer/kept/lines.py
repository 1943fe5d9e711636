"""Serialised lines in compressed parts of 512; the reader unpacks a part when one of its lines is first requested."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count, islice

from syncscan.check.infer.kept.reading import NotKeptError, reading

Part = tuple[str, str | bytes]  # the name of the part, and its lines as text or compressed

_LINES = 512  # of a part
_FAST = 1  # level of zlib
_MOST_OF_ONE = 512 * 1024 * 1024  # bytes of one part


class Parts(Mapping[str, str]):
    """Texts by name, each unpacked on access."""

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self.packed = packed

    def __getitem__(self, name: str) -> str:
        with reading():
            return unpacked(self.packed[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.packed)

    def __len__(self) -> int:
        return len(self.packed)


class KeptLines:
    """The lines of the parts with a name, by number."""

    def __init__(self, name: str, parts: Parts) -> None:
        self._name = name
        self._parts = parts
        self._read: dict[int, list[str]] = {}

    def __getitem__(self, number: int) -> str:
        part, line = divmod(number, _LINES)
        return self._part(part)[line]

    def __len__(self) -> int:
        names = (f"{self._name} {number}" for number in count())
        last = next(number for number, name in enumerate(names) if name not in self._parts.packed) - 1
        return 0 if last < 0 else last * _LINES + len(self._part(last))

    def revised(self, lines: Iterable[str | None]) -> Iterator[Part]:
        """Yield the parts for new lines; None stands for an unchanged line of the same number."""
        lines = iter(lines)
        for number in count():
            some = [*islice(lines, _LINES)]
            if not some:
                return
            name = f"{self._name} {number}"
            if some.count(None) == len(some):
                yield name, self._parts.packed[name]
            else:
                whole = (self._part(number)[n] if each is None else each for n, each in enumerate(some))
                yield name, "\n".join(whole)

    def _part(self, number: int) -> list[str]:
        lines = self._read.get(number)
        if lines is None:
            lines = self._read[number] = self._parts[f"{self._name} {number}"].split("\n")
        return lines


class NamedLines:
    """Lines in parts, each with a name. A name keeps its number in later runs."""

    def __init__(self, sort: str, parts: Parts) -> None:
        self._title = f"names of {sort}"
        names = parts[self._title] if self._title in parts.packed else ""
        self.names = names.split("\n") if names else []
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._lines = KeptLines(sort, parts)

    def find(self, name: str) -> str | None:
        """Return the line of a name, or None."""
        number = self.numbers.get(name)
        return None if number is None else self._lines[number]

    def revised(self, numbers: Iterable[str], line: Callable[[int], str | None]) -> Iterator[Part]:
        """Yield the parts for all names in the order of their ``numbers``; ``line`` returns None for an unchanged line."""
        names = [*numbers]
        yield self._title, "\n".join(names)
        yield from self._lines.revised(map(line, range(len(names))))


def in_parts(name: str, lines: Iterable[str]) -> Iterator[Part]:
    """Yield lines as parts, each with its name."""
    return KeptLines(name, Parts({})).revised(lines)


def packed(text: str | bytes) -> bytes:
    """Return a text compressed; bytes are compressed already."""
    return text if isinstance(text, bytes) else zlib.compress(text.encode("utf-8", "surrogatepass"), _FAST)


def unpacked(data: bytes) -> str:
    """Return the text of `packed`; raise NotKeptError for damaged data."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(data, _MOST_OF_ONE)
    except zlib.error as error:
        raise NotKeptError("not what was written") from error
    if not unpacking.eof:
        raise NotKeptError("not what was written, or too much of it")
    return text.decode("utf-8", "surrogatepass")
