"""Persistence of an engine: its knowledge of a project as bytes, from which the next run continues.

The bytes contain the texts of the files at that time. The next run restores the engine for these texts, and
then edits them to the current files. Each part is plain data, compressed by itself.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from syncscan.check.files import Source
from syncscan.check.infer.kept.lines import Part
from syncscan.check.infer.kept.reading import NotKeptError, reading

_FAST = 1  # level of zlib
_MOST_OF_ONE = 512 * 1024 * 1024  # bytes of one part
_MOST_CHANGED = 64  # files; larger changes usually need a cold run


def written(parts: Iterable[Part], sources: Sequence[Source]) -> bytes:
    """Return the state of a project as bytes; compresses each part before the next part is produced."""
    packed = [(name, zlib.compress(text.encode("utf-8", "surrogatepass"), _FAST)) for name, text in parts]
    texts = [zlib.compress(source.text.encode("utf-8", "surrogatepass"), _FAST) for source in sources]
    head = {
        "parts": [[name, len(data)] for name, data in packed],
        "files": [
            [source.shown, source.module, source.path.name, _digest(source.text), len(data)]
            for source, data in zip(sources, texts, strict=True)
        ],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *(data for _, data in packed), *texts])


class SavedState:
    """The state of an earlier run: the files as they were, and the serialised parts."""

    def __init__(self, data: bytes, sources: Sequence[Source]) -> None:
        """Read the state, and compare its files with ``sources``, the current files.

        Raises NotKeptError where more than 64 files have changed, or the bytes are damaged.
        """
        with reading():
            line, _, _ = data.partition(b"\n")
            head, place = json.loads(line), len(line) + 1
            self._parts: dict[str, bytes] = {}
            for name, size in head["parts"]:
                self._parts[name] = data[place : place + size]
                place += size
            self.sources: list[Source] = []
            self.changed: set[str] = set()
            now = {source.shown: source for source in sources}
            for shown, module, name, digest, size in head["files"]:
                then = now.pop(shown, None)
                if then is None or _digest(then.text) != digest:
                    self.changed.add(shown)
                    text = _unpacked(data[place : place + size])
                    then = replace(then or Source(Path(name), shown, module, ""), text=text)
                self.sources.append(then)
                place += size
        if len(self.changed) + len(now) > _MOST_CHANGED:
            raise NotKeptError("too much has changed")

    def parts(self) -> Mapping[str, str]:
        """Return the parts that `written` received, by name."""
        return _Parts(self._parts)


class _Parts(Mapping[str, str]):
    """The texts of the parts by name, each decompressed on access."""

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self._packed = packed

    def __getitem__(self, name: str) -> str:
        with reading():
            return _unpacked(self._packed[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def _unpacked(data: bytes) -> str:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(data, _MOST_OF_ONE)
    except zlib.error as error:
        raise NotKeptError("not what was written") from error
    if not unpacking.eof:
        raise NotKeptError("not what was written, or too much of it")
    return text.decode("utf-8", "surrogatepass")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
