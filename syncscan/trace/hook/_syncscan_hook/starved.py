"""Idle GPU time after a synchronization, until the next launch or copy by any thread.

The return of a launch ends the interval: the kernel begins at about that time, microseconds after the call began.
Callbacks of launches are on only from the end of a synchronization to the next launch. So a program that never
blocks pays nothing. Only those ways to launch are on that the program was seen to use, since a switch takes
microseconds. They are turned off while no launch is under way: a call whose callback goes off between its begin
and its end stays open for CUPTI. With four such calls of a thread, CUPTI reports the end of calls alone, of
synchronizations too (measured on an H200, CUDA 13.0). The GPU may still be busy on other streams. A sample of the
launches shows the streams, and each is queried for pending work.

Runs inside CUDA calls: no lock, no I/O, no import.
"""

from __future__ import annotations

import ctypes
import re

from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .entry import Entry

# After the first synchronizations, and later after one of so many, all ways to launch are seen,
FIRST, SAMPLED = 4, 64
LEARNT = 512  # for so many launches at most, up to the next synchronization behind a launch
LONGEST_NS = 1_000_000_000  # beyond that the GPU had no work, and no synchronization is to blame
MOST_STREAMS = 16
RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: asking must not end what is captured

# The address of a call's stream in its parameters: the offset, or that of a pointer and the offset behind it.
_STREAMS = {
    "cuLaunchKernel": (40,),
    "cuLaunchCooperativeKernel": (40,),
    "cuLaunchKernelEx": (0, 32),
    "cuGraphLaunch": (8,),
    "cuStreamSynchronize": (0,),
    "cuStreamDestroy": (0,),
}
_LAUNCHES = ("cuLaunchKernel", "cuLaunchCooperativeKernel", "cuLaunchKernelEx", "cuGraphLaunch")
_DESTROYS = "cuStreamDestroy"
_WAITS_FOR_ALL = "cuCtxSynchronize"
_PARAMETERS, _CONTEXT = 16, 40  # offsets in what CUPTI hands to a callback
_INT, _WORD = ctypes.c_int, ctypes.c_uint64


class Starved:
    """The measurement; ``switch(number, on)`` enables the callback of a call, and ``driver`` is libcuda or None."""

    def __init__(self, switch: Callable[[int, bool], None], driver: Any) -> None:
        self.launches: frozenset[int] = frozenset()  # numbers of the callbacks
        self.destroys: frozenset[int] = frozenset()
        self._switch = switch
        self._driver = driver
        self._names: dict[int, str] = {}
        self._idle: dict[int, tuple[Entry, int]] = {}  # since when, by context
        self._streams: dict[int, set[int]] = {}  # that had work, by context
        self._ending: dict[int, tuple[int, Entry, int]] = {}  # by thread that launches: context, and as above
        self.log: list[tuple[int, int, int]] | None = (
            None  # by synchronization, while requested: context, end, ns idle
        )
        self._waits = 0  # but those with no launch between them count as one
        self._to_learn = 0  # from so many launches
        self._used: frozenset[int] = frozenset()  # of `launches`, those that the program was seen to make
        self._on: frozenset[int] = frozenset()  # of `launches`, those whose callbacks are on
        self._launching: set[int] = set()  # threads of which a launch has begun
        self._left_open = (
            False  # whether the end of a launch was missed: from then on no callback is turned off
        )

    def find(self, names: dict[int, str]) -> None:
        """Learn the numbers of the calls."""
        self._names = {number: re.sub(r"(_v\d+)?(_pt[ds][sz])?$", "", name) for number, name in names.items()}
        self.launches = frozenset(n for n, name in self._names.items() if name in _LAUNCHES)
        self.destroys = frozenset(n for n, name in self._names.items() if name == _DESTROYS)

    def begin(self, entry: Entry, now: int, number: int, data: int) -> None:
        """Begin an interval at the end of a synchronization: the GPU may be idle from now on."""
        context = _read(data + _CONTEXT)
        self._end(context, now)
        if self._is_busy(context, number, data):
            self._count(context, entry, now, 0)
            return
        self._idle[context] = (entry, now)
        if self._to_learn < LEARNT:  # since the last synchronization something was launched
            self._waits += 1
            self._to_learn = LEARNT if _is_to_learn(self._waits) else 0
        self._listen()

    def launches_now(self, number: int, data: int, thread: int) -> None:
        """Note a launch or copy that begins on a thread."""
        context = _read(data + _CONTEXT)
        found = self._idle.pop(context, None)
        if found is not None:
            self._ending[thread] = (context, *found)
        if number in self.launches:
            self._left_open |= thread in self._launching
            self._launching.add(thread)
            if self._to_learn:
                self._learn(context, number, data)

    def launched(self, thread: int, now: int) -> None:
        """End the interval at the end of a launch or copy on a thread: the GPU has work."""
        found = self._ending.pop(thread, None)
        if found is not None:
            context, entry, since = found
            self._count(context, entry, since, now - since)
        if thread in self._launching:
            self._launching.discard(thread)
            self._listen()

    def _learn(self, context: int, number: int, data: int) -> None:
        self._to_learn -= 1
        self._used |= {number}
        streams = self._streams.setdefault(context, set())
        if len(streams) < MOST_STREAMS:
            streams.add(self._stream(number, data))

    def forget(self, number: int, data: int) -> None:
        """Drop a stream that is about to be destroyed."""
        stream = self._stream(number, data)
        for streams in self._streams.values():
            streams.discard(stream)

    def _listen(self) -> None:
        """Turn on the callbacks of the launches that matter now, and turn off the rest."""
        before, wanted = (
            self._on,
            self.launches if self._to_learn else self._used if self._idle else frozenset(),
        )
        if wanted is before:
            return
        self._on = wanted
        for number in wanted - before:
            self._switch(number, True)
        for number in before - wanted:
            self._switch(number, False)

    def _end(self, context: int, now: int) -> None:
        found = self._idle.pop(context, None)
        if found is not None:
            entry, since = found
            self._count(context, entry, since, now - since)

    def _count(self, context: int, entry: Entry, since: int, idle: int) -> None:
        if idle < LONGEST_NS:
            entry.idle.append(idle)
            if self.log is not None:
                self.log.append((context, since, idle))

    def _stream(self, number: int, data: int) -> int:
        at = _read(data + _PARAMETERS)
        *pointers, offset = _STREAMS[self._names[number]]
        for pointer in pointers:
            at = _read(at + pointer)
        return _read(at + offset)

    def _is_busy(self, context: int, number: int, data: int) -> bool:
        """Return whether a stream other than the synchronized stream has work."""
        name = self._names.get(number)
        if name == _WAITS_FOR_ALL or self._driver is None:
            return False
        waited = self._stream(number, data) if name in _STREAMS else None
        others = [stream for stream in self._streams.get(context, ()) if stream != waited]
        return any(map(self._has_work, others))

    def _has_work(self, stream: int) -> bool:
        driver, mode, capturing = self._driver, _INT(RELAXED), _INT()
        driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
        try:
            unknown = driver.cuStreamIsCapturing(_WORD(stream), ctypes.byref(capturing)) or capturing.value
            return not unknown and driver.cuStreamQuery(_WORD(stream)) != 0
        finally:
            driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))


def _is_to_learn(wait: int) -> bool:
    return wait <= FIRST or wait % SAMPLED == 0 or wait & (wait - 1) == 0


def _read(address: int) -> int:
    return WORDS[address >> 3] if address else 0
