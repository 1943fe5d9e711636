"""Counts the CUDA runtime calls that can block the host, through the libcupti that torch ships."""

from __future__ import annotations

import atexit
import ctypes
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from syncscan.errors import SyncscanError
from syncscan.trace.hook._syncscan_hook.cupti import find_library

# Callback ids of the runtime API, read from the process by cuptiGetCallbackName on CUDA 13.0.
RUNTIME_API = 2
SYNCHRONIZE = {131: "cudaStreamSynchronize", 137: "cudaEventSynchronize", 165: "cudaDeviceSynchronize"}
COPY = {31: "cudaMemcpy", 41: "cudaMemcpyAsync"}
COPY_KIND_OFFSET = 24  # of `kind` in the parameters (dst, src, count, kind) of both copies
DIRECTIONS = {1: "copy to gpu", 2: "copy to host"}


class _CallbackData(ctypes.Structure):
    """The head of CUpti_CallbackData."""

    _fields_ = (
        ("site", ctypes.c_int),
        ("function", ctypes.c_char_p),
        ("parameters", ctypes.c_void_p),
    )


_Callback = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(_CallbackData)
)


class CudaCalls:
    """Subscribes to CUPTI once; a process has one such object, for as long as it lives."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        path = find_library()
        if path is None:
            raise SyncscanError(
                "libcupti was not found beside torch: install a CUDA build of torch for Linux"
            )
        self._library = ctypes.CDLL(path)
        self._callback = _Callback(self._on_call)  # referenced here, for CUPTI holds a bare pointer to it
        self._subscriber = ctypes.c_void_p()
        self._check(self._library.cuptiSubscribe(ctypes.byref(self._subscriber), self._callback, None))
        for callback_id in (*SYNCHRONIZE, *COPY):
            self._check(
                self._library.cuptiEnableCallback(
                    1, self._subscriber, RUNTIME_API, ctypes.c_uint32(callback_id)
                )
            )
        atexit.register(self._library.cuptiUnsubscribe, self._subscriber)  # left subscribed, exit crashes

    @staticmethod
    def _check(status: int) -> None:
        if status:
            raise SyncscanError(f"CUPTI refused with error {status}; stop other profilers and try again")

    def _on_call(self, _: object, __: int, callback_id: int, data: ctypes._Pointer[_CallbackData]) -> None:
        if data.contents.site:  # 0 on entry, 1 on exit
            return
        if callback_id in SYNCHRONIZE:
            self.counts[SYNCHRONIZE[callback_id]] += 1
            return
        self.counts[COPY[callback_id]] += 1
        kind = ctypes.c_int.from_address((data.contents.parameters or 0) + COPY_KIND_OFFSET).value
        if kind in DIRECTIONS:
            self.counts[DIRECTIONS[kind]] += 1

    @property
    def blocking(self) -> int:
        """The calls so far that always block: synchronisations and plain copies."""
        return sum(self.counts[name] for name in (*SYNCHRONIZE.values(), "cudaMemcpy"))

    @contextmanager
    def collected(self) -> Iterator[dict[str, int]]:
        """Return the calls made inside the ``with`` block, filled in when it ends."""
        before = self.counts.copy()
        calls: dict[str, int] = {}
        yield calls
        calls.update(sorted((self.counts - before).items()))
