"""Decide whether the host blocks: the one seam at which time is measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

BUSY_MS = 10.0  # how long the kernel keeps the GPU busy, at least
WAITED_MS = 5.0  # a call that a busy GPU makes slower than this has blocked
SHORT = 0.8  # the share of its time that a kernel has to take for what came after it to count
TRIES = 3  # a call blocks only if every try blocks


@dataclass(frozen=True, slots=True)
class CallEffect:
    """The effect of one call on the host.

    ``calls`` counts the CUDA calls that can block, and the copies by direction ("copy to gpu").
    """

    waited: bool
    busy_ms: float
    idle_ms: float
    calls: dict[str, int] = field(default_factory=dict)


class CallMeter(Protocol):
    """Decides whether a call blocks the host."""

    def __call__(self, call: Callable[[], object], before: Callable[[], object]) -> CallEffect:
        """Run ``before`` and ``call`` several times and return whether ``call`` blocked."""

    def settle(self) -> None:
        """Block until all queued work has finished; raises if the GPU reports an error."""

    def blocking_calls(self) -> int:
        """Return how many calls that can block the host were made so far."""


class BusyGpu:
    """Runs calls behind a kernel that keeps the GPU busy.

    A call that returns while that kernel still runs has surely not blocked. A call that returns after the kernel's end has
    blocked, if it took clearly longer than behind an idle GPU, each time.
    """

    def __init__(self) -> None:
        import torch  # noqa: PLC0415

        from syncscan.measure.cupti import CudaCalls  # noqa: PLC0415

        self._torch = torch
        torch.cuda.init()
        self._calls = CudaCalls()
        self._cycles_per_ms = self._calibrate()

    def _calibrate(self) -> float:
        """Return the cycles per millisecond, from kernels shorter than a time slice: other processes run too."""
        cuda = self._torch.cuda
        cycles = 2_000_000
        took = []
        for _ in range(20):
            start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            start.record()
            cuda._sleep(cycles)
            end.record()
            end.synchronize()  # syncscan: ignore[SYN401] the time is read next
            took.append(start.elapsed_time(end))
        return float(cycles / min(took))

    def settle(self) -> None:
        """Block until all queued work has finished."""
        self._torch.cuda.synchronize()  # syncscan: ignore[SYN401] a measurement starts on an idle GPU

    def blocking_calls(self) -> int:
        """Return how many calls that can block the host were made so far."""
        return self._calls.blocking

    def __call__(self, call: Callable[[], object], before: Callable[[], object]) -> CallEffect:
        """Time the call behind an idle GPU, then behind a busy one."""
        before()
        self.settle()
        with self._calls.collected() as calls:
            idle_ms = _milliseconds(call)
        length_ms = max(BUSY_MS, 3 * idle_ms)
        slowest = [self._behind_busy_kernel(call, before, length_ms)]
        while slowest[-1] is not None and len(slowest) < TRIES:
            slowest.append(self._behind_busy_kernel(call, before, length_ms))
        if slowest[-1] is None:
            return CallEffect(False, 0.0, idle_ms, calls)
        busy_ms = min(ms for ms in slowest if ms is not None)
        return CallEffect(busy_ms - idle_ms > WAITED_MS, busy_ms, idle_ms, calls)

    def _behind_busy_kernel(
        self, call: Callable[[], object], before: Callable[[], object], length_ms: float
    ) -> float | None:
        """Return how long the host took, or None if the call returned while the GPU was still busy."""
        before()
        self.settle()
        event = self._torch.cuda.Event
        start, done = event(enable_timing=True), event(enable_timing=True)
        start.record()
        self._torch.cuda._sleep(int(length_ms * self._cycles_per_ms))
        done.record()
        took = _milliseconds(call)
        waited = done.query()
        self.settle()
        busy_ms = start.elapsed_time(done)
        if waited and busy_ms < length_ms * SHORT:
            self._cycles_per_ms *= length_ms / busy_ms  # the GPU's clock has gone up since
            return self._behind_busy_kernel(call, before, length_ms)
        return took if waited else None


def _milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
