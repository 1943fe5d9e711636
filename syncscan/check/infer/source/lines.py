"""The lines of a file, cut out of its text while they are asked for."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import overload


class Lines(Sequence[str]):
    """What a text is split into at its line breaks; of all files, only those asked about last are kept split."""

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
        """All of them, for who asks about many."""
        return _split(self.text)

    def mention(self, name: str) -> bool:
        """Whether a text without line breaks stands in one of them."""
        return name in self.text


@functools.lru_cache(maxsize=16)
def _split(text: str) -> Sequence[str]:
    return text.split("\n")
