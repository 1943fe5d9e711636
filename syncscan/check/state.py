"""What an engine knows of a project, as bytes to keep: so that another run need not find it out.

It is what a run knew of the files as they were, whose texts are in it. The next one becomes an engine that was asked
about those, and is then asked about the files as they are. What is written is data, in parts that are compressed each by itself.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from syncscan.check.files import Source
from syncscan.check.infer.known.recall import NotKeptError, reading

_FAST = 1  # of zlib
_MOST_OF_ONE = 512 * 1024 * 1024  # bytes of one part
_MOST_CHANGED = 64  # files; where more have changed, as a rule more has than what functions do


def written(parts: Mapping[str, str], sources: Sequence[Source]) -> bytes:
    """What is known of files, as bytes."""
    packed = [
        (name, zlib.compress(text.encode("utf-8", "surrogatepass"), _FAST)) for name, text in parts.items()
    ]
    texts = [zlib.compress(source.text.encode("utf-8", "surrogatepass"), _FAST) for source in sources]
    head = {
        "parts": [[name, len(data)] for name, data in packed],
        "files": [[_digest(source.text), len(data)] for source, data in zip(sources, texts, strict=True)],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *(data for _, data in packed), *texts])


class State:
    """What was known of files as they were."""

    def __init__(self, data: bytes, sources: Sequence[Source]) -> None:
        """``sources`` are the files as they are; NotKeptError where they are others, or the state is damaged."""
        with reading():
            line, _, _ = data.partition(b"\n")
            head, place = json.loads(line), len(line) + 1
            self._parts: dict[str, bytes] = {}
            for name, size in head["parts"]:
                self._parts[name] = data[place : place + size]
                place += size
            self.sources: list[Source] = []
            self.changed: set[str] = set()
            for source, (digest, size) in zip(sources, head["files"], strict=True):
                then = source
                if _digest(source.text) != digest:
                    self.changed.add(source.shown)
                    then = replace(source, text=_unpacked(data[place : place + size]))
                self.sources.append(then)
                place += size
        if len(self.changed) > _MOST_CHANGED:
            raise NotKeptError("too much has changed")

    def parts(self) -> dict[str, str]:
        """What was known, as `written` had it."""
        with reading():
            return {name: _unpacked(data) for name, data in self._parts.items()}


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
