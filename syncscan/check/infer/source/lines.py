"""The lines of a file, split from its text on access."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import overload


class Lines(Sequence[str]):
    """The lines of a text; a cache holds the split lines of the 16 texts used last."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __len__(self) -> int:
        return len(self.split())

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...

    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return self.split()[place]

    def split(self) -> Sequence[str]:
        """Return all lines."""
        return _split(self.text)

    def mention(self, name: str) -> bool:
        """Return whether any line contains a text without line breaks."""
        return _mentions(self.text, name)


@functools.lru_cache(maxsize=16)
def _mentions(text: str, name: str) -> bool:
    return name in text


@functools.lru_cache(maxsize=16)
def _split(text: str) -> Sequence[str]:
    return text.split("\n")
