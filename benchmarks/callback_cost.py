"""The cost of the callbacks of a trace for one ``.item()``, without a GPU: the script makes CUPTI's calls.

    python -m benchmarks.callback_cost [ROUNDS]

One read is a copy into pinned memory and a synchronization, each with a callback at its begin and its end. The table has
microseconds of a read, less those of four calls of a C function: callbacks that do nothing, and those of the trace. "Cold"
is after other work has taken the cache. `benchmarks.trace_overhead` measures the same on a GPU.
"""

from __future__ import annotations

import ctypes
import platform
import statistics
import sys
import time
from collections.abc import Callable

from syncscan.trace.hook._syncscan_hook import cupti
from syncscan.trace.hook._syncscan_hook.cupti import COPY_OUT, WAIT, Cupti
from syncscan.trace.hook._syncscan_hook.record import WaitRecorder

COPY, SYNCHRONIZE = 300, 310  # numbers of the callbacks
READS = 400
FRAMES = (0, 8, 24)
_Call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)


class _Data(ctypes.Structure):
    """The data that CUPTI passes to a callback."""

    _fields_ = (("site", ctypes.c_int), ("name", ctypes.c_char_p), ("parameters", ctypes.c_void_p))


_PINNED = ctypes.create_string_buffer(64)
_PARAMETERS = (ctypes.c_uint64 * 3)(ctypes.addressof(_PINNED), 0, 4)
_BEGIN, _END = (_Data(site, None, ctypes.addressof(_PARAMETERS)) for site in (0, 1))
_OTHER_WORK = ctypes.create_string_buffer(8 << 20)


def main(rounds: int) -> None:
    """Measure and print."""
    apis = ("cudaStreamSynchronize", "cudaStreamSynchronize:in", "cudaStreamSynchronize:out")
    cupti._known_calls.update({COPY: (COPY_OUT, apis), SYNCHRONIZE: (WAIT, apis)})
    recorder = WaitRecorder()
    traced = Cupti(recorder, print, print, lambda: None)
    traced._driver = object()  # which is not asked about memory that is known to be pinned
    traced._pinned.add(ctypes.addressof(_PINNED))
    empty = cupti._Callback(lambda _user, _domain, _number, _data: None)
    ways = {
        name: _call(of)
        for name, of in {"C": ctypes.PyDLL(None).abs, "empty": empty, "trace": traced._function}.items()
    }
    print(f"Python {platform.python_version()}, {rounds} rounds, the least of their medians\n")
    print("| frames | cache | callbacks that do nothing | callbacks of the trace |\n|---|---|---|---|")
    for frames in FRAMES:
        for is_cold in (False, True):
            times: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(rounds):
                for name, way in ways.items():
                    times[name].append(_median(way, frames, is_cold=is_cold))
                    recorder.digest()
            base, *others = map(min, times.values())
            print(
                f"| {frames} | {'cold' if is_cold else 'warm'} | {' | '.join(f'{t - base:.2f} us' for t in others)} |",
                flush=True,
            )
    assert all(entry.api.endswith(":out") for entry in recorder.entries.values())


def _call(function: object) -> Callable[..., None]:
    return _Call(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _median(call: Callable[..., None], frames: int, *, is_cold: bool) -> float:
    begin, end = map(ctypes.addressof, (_BEGIN, _END))

    def read() -> None:
        call(None, 1, COPY, begin)
        call(None, 1, COPY, end)
        call(None, 1, SYNCHRONIZE, begin)
        call(None, 1, SYNCHRONIZE, end)

    step = _deeper(read, frames)
    times = []
    for _ in range(READS):
        if is_cold:
            ctypes.memset(_OTHER_WORK, len(times) % 2, len(_OTHER_WORK))
        start = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def _deeper(step: Callable[[], None], frames: int) -> Callable[[], None]:
    if frames == 0:
        return step
    inner = _deeper(step, frames - 1)
    return lambda: inner()  # noqa: PLW0108 (the frame is the point)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
