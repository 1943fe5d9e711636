"""Reads the traces in folders again."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from syncscan.errors import SyncscanError
from syncscan.ops import OperationTable
from syncscan.system.files import read_file
from syncscan.system.memory import steady_memory
from syncscan.system.workers import in_order, workers
from syncscan.trace.contract import FORMAT_VERSION, OF_EVERY_VERSION, TRACE
from syncscan.trace.launch import Launched
from syncscan.trace.merge import PartialMerge, Trace, merge, merge_parts
from syncscan.trace.shape import Mismatch, parse
from syncscan.trace.sites import Blame
from syncscan.trace.trace import build

MAX_BYTES = 128 * 1024 * 1024  # of trace.json
_FILE = "trace.json"
_PART = 16  # traces that one process puts together
_PARTS = "parts"  # what the processes wrote


def read_traces(folders: Sequence[Path], table: OperationTable) -> Trace:
    """Return one trace of all traces in these folders; raise SyncscanError if there is none, or one is wrong.

    A folder holds a trace, or a folder with a trace for each machine of a run.
    """
    found = [(folder, inside) for folder in folders for inside in _traces_in(folder)]
    with steady_memory():
        if len(found) == 1:
            return _read(table, found[0][1])
        parts = [found[start : start + _PART] for start in range(0, len(found), _PART)]
        return merge_parts(in_order(partial(_merged, table), parts, workers(0)))


def digests_of(folders: Sequence[Path]) -> list[str]:
    """Return a hash of the content of each trace that `read_traces` would read; raise SyncscanError if there is none."""
    return [_digest(inside) for folder in folders for inside in _traces_in(folder)]


def _digest(folder: Path) -> str:
    path = folder / _FILE
    if not path.exists():  # parts alone, which are put together each time
        return uuid.uuid4().hex
    try:
        return hashlib.sha256(read_file(path, MAX_BYTES)).hexdigest()
    except OSError as error:
        raise SyncscanError(f"{path}: cannot be read: {error.strerror}") from None


def _merged(table: OperationTable, found: Sequence[tuple[Path, Path]]) -> PartialMerge:
    return merge((str(inside.relative_to(folder.parent)), _read(table, inside)) for folder, inside in found)


def _traces_in(folder: Path) -> Iterator[Path]:
    if _is_trace(folder):
        yield folder
        return
    inside = sorted(path for path in folder.iterdir() if path.is_dir() and _is_trace(path))
    if not inside:
        raise SyncscanError(f"{folder}: no {_FILE} here; `syncscan trace -o {folder} -- ...` makes one")
    yield from inside


def _is_trace(folder: Path) -> bool:
    return (folder / _FILE).exists() or (folder / _PARTS).is_dir()


def _read(table: OperationTable, folder: Path) -> Trace:
    if not (folder / _FILE).exists():  # the launcher itself was killed
        return build([], Launched(), folder / _PARTS, Blame(), 0, table)
    return load(folder)


def load(folder: Path) -> Trace:
    """Read ``trace.json`` of a folder; raise SyncscanError if the file is unreadable, or no trace."""
    path = folder / _FILE
    try:
        value = parse(read_file(path, MAX_BYTES))
    except OSError as error:
        raise SyncscanError(f"{path}: cannot be read: {error.strerror}") from None
    except Mismatch as error:
        raise SyncscanError(f"{path}: {error}; run the trace again") from None
    try:
        version = OF_EVERY_VERSION(value)["version"]
        if version != FORMAT_VERSION:
            raise SyncscanError(
                f"{path}: version {version} of the format; this syncscan reads {FORMAT_VERSION}"
            )
        trace: Trace = TRACE(value)
    except Mismatch as error:
        raise SyncscanError(f"{path}: not a trace of syncscan: {error}") from None
    return trace
