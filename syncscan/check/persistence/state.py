"""Persistence of an engine: its knowledge of a project as bytes, from which the next run continues.

The bytes contain the texts of the files at that time. The next run restores the engine for these texts, and
then edits them to the current files. Each part is plain data, compressed by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from syncscan.check.files import Source
from syncscan.check.infer.kept.lines import Part, Parts, packed, unpacked
from syncscan.check.infer.kept.reading import NotKeptError, reading

_MOST_CHANGED = 64  # files; larger changes usually need a cold run


def written(parts: Iterable[Part], sources: Sequence[Source], before: SavedState | None = None) -> bytes:
    """Return the state of a project as bytes; compresses each part before the next part is produced.

    Texts that the state ``before`` contains are not compressed again.
    """
    done = [(name, packed(text)) for name, text in parts]
    known = {} if before is None else before.texts
    digests = [_digest(source.text) for source in sources]
    texts = [
        known.get(digest) or packed(source.text) for source, digest in zip(sources, digests, strict=True)
    ]
    head = {
        "parts": [[name, len(data)] for name, data in done],
        "files": [
            [source.shown, source.module, source.path.name, digest, len(data)]
            for source, digest, data in zip(sources, digests, texts, strict=True)
        ],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *(data for _, data in done), *texts])


class SavedState:
    """The state of an earlier run: the files as they were, and the serialised parts."""

    def __init__(self, data: bytes, sources: Sequence[Source]) -> None:
        """Read the state, and compare its files with ``sources``, the current files.

        Raises NotKeptError where more than 64 files have changed, or the bytes are damaged.
        """
        with reading():
            line, _, _ = data.partition(b"\n")
            head, place = json.loads(line), len(line) + 1
            parts: dict[str, bytes] = {}
            for name, size in head["parts"]:
                parts[name] = data[place : place + size]
                place += size
            self.parts = Parts(parts)  # that `written` received
            self.sources: list[Source] = []
            self.changed: set[str] = set()
            self.texts: dict[str, bytes] = {}  # packed, by their digests
            now = {source.shown: source for source in sources}
            for shown, module, name, digest, size in head["files"]:
                then = now.pop(shown, None)
                text = data[place : place + size]
                if then is None or _digest(then.text) != digest:
                    self.changed.add(shown)
                    then = replace(then or Source(Path(name), shown, module, ""), text=unpacked(text))
                self.sources.append(then)
                self.texts[digest] = text
                place += size
        if len(self.changed) + len(now) > _MOST_CHANGED:
            raise NotKeptError("too much has changed")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
