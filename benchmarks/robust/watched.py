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
_PATIENCE = 30  # a busy machine gives no more than a part of its processors


@dataclass(frozen=True, slots=True)
class Watched:
    """How a command ended; ``exceeded`` says which limit ended it, or is ""."""

    status: int
    stdout: str
    stderr: str
    seconds: float
    processor: float  # seconds, of all processes
    peak: int  # bytes that all processes together had at once; what they share counts once
    exceeded: str


def watch(command: Sequence[str], hash_seed: int, seconds: float, memory: int) -> Watched:
    """Run a command to its end, or until it takes more than some seconds of the processor, or bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        before, start = _children_time(), time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        )
        peak, exceeded = _until_end(process, seconds, memory)
        took, processor = time.perf_counter() - start, _children_time() - before
        for file in (out, err):
            file.seek(0)
        texts = [file.read().decode(errors="replace") for file in (out, err)]
    return Watched(process.returncode, texts[0], texts[1], took, processor, peak, exceeded)


def _until_end(process: subprocess.Popen[bytes], seconds: float, memory: int) -> tuple[int, str]:
    peak, exceeded, deadline = 0, "", time.perf_counter() + _PATIENCE * seconds
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_INTERVAL)
            return peak, exceeded
        processor, now = _usage(process.pid)
        peak = max(peak, now)
        if processor > seconds or time.perf_counter() > deadline:
            exceeded = "time"
        elif peak > memory:
            exceeded = "memory"
        if exceeded:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _usage(pid: int) -> tuple[float, int]:
    """Seconds of the processor, and bytes, of a process and all below it."""
    processor, memory = 0.0, 0
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                processor += sum(times[:4])  # its own, and those of its children that have ended
                memory += process.memory_full_info().pss
    return processor, memory


def _children_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
