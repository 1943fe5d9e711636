"""When kernels and copies ran, by the GPU's own account: CUPTI's activity records.

The offsets are those of ``CUpti_ActivityKernel9`` and 10, ``Memcpy``, ``Memset4``, and ``MemcpyPtoP4``, read from the headers
of CUDA 12.1, 12.8, and 13.0: begin and end lie in one place in all of them. Other versions are left alone.
"""

from __future__ import annotations

import ctypes
from time import perf_counter_ns

from .buffers import Buffers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Clock = tuple[int, int]  # our nanoseconds, and CUPTI's at that moment
    Work = tuple[int, int, int]  # device, begin and end

_KERNEL = 10  # CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: unlike KERNEL it lets kernels run side by side
_KINDS = (_KERNEL, 1, 2, 22)  # and MEMCPY, MEMSET, and MEMCPY2, which is from GPU to GPU
_BEGIN, _END, _DEVICE, _DEVICE_OF_KERNEL = 16, 24, 32, 40
_FORCED = 1  # CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
_VERSIONS = (range(18, 29), range(130000, 140000))  # CUDA 12 and 13
_WORD, _NUMBER = ctypes.c_uint64, ctypes.c_uint32


class Timeline:
    """Records between `start` and `stop`; ``library`` is libcupti, loaded so that its calls release the interpreter lock."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._buffers: Buffers | None = None
        self._sizes: dict[int, int] = {}  # of records, by kind
        self._clocks: list[Clock] = []
        self._work: list[Work] = []  # that was read so far, in CUPTI's nanoseconds

    def start(self) -> str | None:
        """Record from now on; None, or why that cannot be. Its functions stay CUPTI's until another one gives its own."""
        try:
            if self._buffers is None:
                self._check_version()
                self._buffers = Buffers()
                self._do("cuptiActivityRegisterCallbacks", *map(ctypes.c_void_p, self._functions()))
            self._clocks = [self._clock()]
            for kind in _KINDS:
                self._do("cuptiActivityEnable", kind)
        except OSError as error:
            self.stop()
            return error.strerror or str(error)
        return None

    def stop(self) -> None:
        """Record no new work; report the work that has begun."""
        for kind in _KINDS:
            self._library.cuptiActivityDisable(kind)
        self._clocks.append(self._clock())

    def read(self, *, whole: bool) -> list[Work] | None:
        """Return all work since `start`, in its order; None while some of it has not ended, unless it is to be whole now.

        Raises OSError if not all of it can be known.
        """
        assert self._buffers is not None
        self._do("cuptiActivityFlushAll", _FORCED if whole else 0)
        for buffer in self._buffers.filled():
            self._work += self._read_buffer(*buffer)
        if self._buffers.were_too_few:
            raise OSError("there were more kernels than room for them")
        if self._buffers.are_out and not whole:
            return None
        work, self._work = self._work, []
        if any(end == 0 for _, _, end in work):
            raise OSError("a kernel of them has not ended")
        return sorted((device, self._ours(begin), self._ours(end)) for device, begin, end in work)

    def device_of(self, context: int) -> int:
        """Return the number of a context's GPU."""
        number = _NUMBER()
        self._do("cuptiGetDeviceId", _WORD(context), ctypes.byref(number))
        return number.value

    def _functions(self) -> tuple[int, int]:
        assert self._buffers is not None
        return self._buffers.requested, self._buffers.completed

    def _check_version(self) -> None:
        version = _NUMBER()
        self._do("cuptiGetVersion", ctypes.byref(version))
        if not any(version.value in known for known in _VERSIONS):
            raise OSError(f"the records of CUPTI {version.value} are not known")

    def _do(self, name: str, *arguments: Any) -> None:
        error = getattr(self._library, name)(*arguments)
        if error:
            raise OSError(f"{name} gave error {error}")

    def _clock(self) -> Clock:
        """Return the reading of both clocks that took least time, of a few."""
        readings = []
        theirs = _WORD()
        for _ in range(5):
            before = perf_counter_ns()
            self._library.cuptiGetTimestamp(ctypes.byref(theirs))
            after = perf_counter_ns()
            readings.append((after - before, (before + after) // 2, theirs.value))
        _, ours, value = min(readings)
        return ours, value

    def _ours(self, theirs: int) -> int:
        """Convert a time of CUPTI's clock, which may be set in between, to our monotonic clock."""
        (ours, at), (ours_later, later) = self._clocks[0], self._clocks[-1]
        drift = (ours_later - later) - (ours - at)
        return theirs + ours - at + drift * (theirs - at) // max(later - at, 1)

    def _read_buffer(self, buffer: int, length: int) -> Iterator[Work]:
        at, end = buffer, buffer + length
        while at < end:
            kind = _NUMBER.from_address(at).value
            if kind in _KINDS:
                device = _DEVICE_OF_KERNEL if kind == _KERNEL else _DEVICE
                yield (
                    _NUMBER.from_address(at + device).value,
                    _WORD.from_address(at + _BEGIN).value,
                    _WORD.from_address(at + _END).value,
                )
            if kind not in self._sizes:
                following = ctypes.c_void_p(at)
                if self._library.cuptiActivityGetNextRecord(
                    ctypes.c_void_p(buffer), ctypes.c_size_t(length), ctypes.byref(following)
                ):
                    return  # it is the last one
                self._sizes[kind] = (following.value or end) - at
            at += self._sizes[kind]
