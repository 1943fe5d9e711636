"""A command under limits: what it said, how long it and its children took, and the memory of all of them."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

_INTERVAL = 0.1


@dataclass(frozen=True, slots=True)
class Watched:
    """How a command ended; ``exceeded`` says which limit ended it, or is ""."""

    status: int
    stdout: str
    stderr: str
    seconds: float
    processor: float  # seconds, of all processes
    peak: int  # bytes that all processes together had at once; shared pages count for each
    exceeded: str


def watch(command: Sequence[str], hash_seed: int, seconds: float, memory: int) -> Watched:
    """Run a command to its end, or to that of its time (seconds) or memory (bytes)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        before, start = _children_time(), time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        )
        peak, exceeded = _until_end(process, start + seconds, memory)
        took, processor = time.perf_counter() - start, _children_time() - before
        for file in (out, err):
            file.seek(0)
        texts = [file.read().decode(errors="replace") for file in (out, err)]
    return Watched(process.returncode, texts[0], texts[1], took, processor, peak, exceeded)


def _until_end(process: subprocess.Popen[bytes], deadline: float, memory: int) -> tuple[int, str]:
    peak, exceeded = 0, ""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_INTERVAL)
            return peak, exceeded
        peak = max(peak, _memory(process.pid))
        if time.perf_counter() > deadline:
            exceeded = "time"
        elif peak > memory:
            exceeded = "memory"
        if exceeded:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _memory(pid: int) -> int:
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        return sum(map(_resident, [root, *root.children(recursive=True)]))
    return 0


def _resident(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.NoSuchProcess):
        return int(process.memory_info().rss)
    return 0


def _children_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
