"""Detector ``cupti``: the CUDA driver reports the begin and end of each call that can block.

Subscribes to the driver domain alone: measured on CUDA 13, every runtime call (``cudaMemcpyAsync``)
reaches a driver call (``cuMemcpyDtoHAsync_v2``) that names the direction, so each is seen once.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re
import sys
import threading
from _thread import get_ident
from time import perf_counter_ns

from .interrupts import again, enters_unasked, keep
from .starved import Starved
from .timeline import Timeline
from .words import HALVES, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .checked import TimelineCheck
    from .interfaces import Node, Note, Sink

DRIVER_DOMAIN = 1
MULTIPLE_SUBSCRIBERS = 39
MEMORY_TYPE = 2  # CU_POINTER_ATTRIBUTE_MEMORY_TYPE
# Measured behind a busy kernel: a pageable upload of up to 1 MiB returns at once, and an upload of 4 MiB blocks
# until the kernel has finished. Between them the data staged already decides. Copying 1 MiB takes up to 0.15 ms.
STAGED_BYTES = 1024 * 1024
LONG_NS = 500_000
MAX_PINNED = 10_000

_WAITS = {
    "cuStreamSynchronize": "cudaStreamSynchronize",
    "cuCtxSynchronize": "cudaDeviceSynchronize",
    "cuEventSynchronize": "cudaEventSynchronize",
}
_SYNCHRONOUS_COPY = re.compile(r"cuMemcpy(|DtoH|HtoD|2D|2DUnaligned|3D|AtoH|HtoA)(_v2)?(_ptds)?")
_COPY = re.compile(r"cuMemcpy(|DtoH|HtoD)Async(_v2)?(_ptsz)?")
_SHAPED_COPY = re.compile(r"cuMemcpy(2D|3D|AtoH|HtoA)Async(_v2)?(_ptsz)?")

WAIT, COPY_OUT, COPY_IN, COPY_EITHER, SHAPED = range(5)
_WAYS = (0, 2, 1, 0, 0)
_PINNED = -1  # how to judge a copy into pinned memory: it does not block

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)


def classify(name: str) -> tuple[int, str] | None:
    """Return (rule of judgement, name in the runtime) of a driver call, or None for a call that cannot block."""
    base = re.sub(r"(_v\d+)?(_pt[ds][sz])?$", "", name)
    if base in _WAITS:
        return WAIT, _WAITS[base]
    if _SYNCHRONOUS_COPY.fullmatch(name):
        return WAIT, "cudaMemcpy"
    if _SHAPED_COPY.fullmatch(name):
        return SHAPED, "cudaMemcpy2DAsync" if "2D" in name else "cudaMemcpy3DAsync"
    if _COPY.fullmatch(name):
        how = COPY_OUT if "DtoH" in name else COPY_IN if "HtoD" in name else COPY_EITHER
        return how, "cudaMemcpyAsync"
    return None


class _Thread:
    """The state of one thread between two callbacks."""

    __slots__ = (
        *("began", "copy", "entry", "frame", "how", "inside", "last", "native", "number", "offset"),
        *("python", "way"),
    )

    def __init__(self, python: Any, number: int) -> None:
        self.inside = 0  # id of the call that is running, or 0
        self.how = WAIT  # to judge it
        self.began = 0
        self.entry: Any = None  # of the running synchronization; None if the call completes a blocking copy
        self.way = 0  # whether the last call was a copy to the GPU (1) or from it (2)
        self.copy: Any = None  # and its entry, if it blocked,
        self.frame = 0  # in the frame of this id
        self.offset = 0  # at this instruction
        self.last: Any = None  # entry of the last event
        self.python = id(python)  # of the thread as Python knows it, which must not live longer for us
        self.native = python is None or isinstance(python, threading._DummyThread)  # not one of Python's
        self.number = number  # the number of the thread in the recorded data

    def copied_at(self, frame: FrameType | None) -> bool:
        """Return whether the operation that calls now made the blocking copy."""
        if frame is not None and id(frame) == self.frame and frame.f_lasti == self.offset:
            return True
        self.copy = None
        return False


class Cupti:
    """Subscribes to the callbacks and hands each synchronization to the recorder."""

    name = "cupti"

    def __init__(
        self,
        recorder: Sink,
        note: Note,
        fail: Note,
        profiler_starts: Callable[[], None],
        *,
        starved: bool = False,
        checked: TimelineCheck | None = None,
    ) -> None:
        self._recorder = recorder
        self._note = note
        self._fail = fail  # called once with a message if a callback breaks
        self._profiler_starts = profiler_starts  # called when the program's own profiler took CUPTI over
        self._wrapped: dict[str, Callable[..., Any]] = {}
        self._calls = _known_calls
        self._threads: dict[int, _Thread] = {}
        self._library: Any = None
        self._pinned: set[int] = (
            set()
        )  # addresses of pinned memory: torch keeps such memory and uses it again
        self._subscriber = ctypes.c_void_p()
        self._pid = 0
        self._too_deep = False  # whether the program was too deep in its stack for a callback
        self._driver = _load_driver()
        self._starved = Starved(self._switch, self._driver) if starved else None
        self._checked = checked
        callback = self._make_callback(sys._getframe) if self._starved is None else self._and_starved()
        self._function = _Callback(callback)  # CUPTI keeps a pointer to it

    @property
    def armed(self) -> bool:
        """Return whether callbacks come in this process."""
        return self._pid == os.getpid()

    def arm(self) -> str | None:
        """Start; return None, or the reason for a failure in one line."""
        path = find_library()
        if path is None:
            return "libcupti was not found beside torch"
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            return f"libcupti cannot be loaded: {error}"
        result = self._library.cuptiSubscribe(ctypes.byref(self._subscriber), self._function, None)
        if result == MULTIPLE_SUBSCRIBERS:
            return "another profiler holds CUPTI"
        if result != 0:
            return f"cuptiSubscribe gave error {result}"
        self._pid = os.getpid()
        if not self._calls:
            self._find_calls()
        always = set(self._calls)
        if self._starved is not None:
            self._starved.find(_known_names)
            always |= self._starved.destroys
            if self._checked is not None:
                self._checked.begin(self._starved, Timeline(self._library))
        for number in always:
            self._library.cuptiEnableCallback(1, self._subscriber, DRIVER_DOMAIN, number)
        self._watch_profiler()
        return None

    def before_flush(self) -> None:
        """Compare the records of the kernels, if the options request a comparison."""
        self._tell_too_deep()
        if self._checked is not None:
            self._checked.read()

    def disarm(self) -> None:
        """Stop; needed before the interpreter goes away. Does nothing in a forked child."""
        self._tell_too_deep()
        if self.armed:
            if self._checked is not None:
                self._checked.end()
            self._pid = 0
            self._library.cuptiUnsubscribe(self._subscriber)
        for name, function in self._wrapped.items():
            setattr(sys.modules["torch.autograd.profiler"], name, function)
        self._wrapped.clear()

    def _tell_too_deep(self) -> None:
        if self._too_deep:
            self._note("some synchronizations are not counted: the program was at the limit of its recursion")

    def confirm(self, frame: FrameType) -> bool:
        """Note that debug mode warned of the last event of this thread; false if that was another one."""
        thread = self._threads.get(get_ident())
        if not self.armed or thread is None or thread.last is None:
            return False
        if thread.last.stack[:2] != (id(frame.f_code), frame.f_lasti):
            return False
        thread.last.warned += 1
        return True

    def _find_calls(self) -> None:
        name = ctypes.c_char_p()
        for number in range(1, 2000):
            if (
                self._library.cuptiGetCallbackName(DRIVER_DOMAIN, number, ctypes.byref(name))
                or not name.value
            ):
                continue
            _known_names[number] = name.value.decode()
            call = classify(_known_names[number])
            if call is not None:
                how, api = call
                self._calls[number] = how, (api, api + ":in", api + ":out")

    def _switch(self, number: int, on: bool) -> None:
        """Turn the callback of a call on or off; inside CUDA calls.

        This releases the interpreter lock: another thread may hold a lock of CUPTI and need the interpreter
        lock.
        """
        if self.armed:
            self._library.cuptiEnableCallback(int(on), self._subscriber, DRIVER_DOMAIN, number)

    def _watch_profiler(self) -> None:
        """Step aside when torch's profiler starts: from then on the profiler occupies CUPTI."""
        module = sys.modules.get("torch.autograd.profiler")
        for name in ("_prepare_profiler", "_enable_profiler"):
            if hasattr(module, name):
                self._wrapped[name] = getattr(module, name)
                setattr(module, name, self._step_aside_before(self._wrapped[name]))

    def _step_aside_before(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def start_profiler(*args: Any, **kwargs: Any) -> Any:
            if self.armed:
                self.disarm()
                self._profiler_starts()
            return original(*args, **kwargs)

        return start_profiler

    # From here on: inside CUDA calls. No lock, no I/O, no import, and no exception may leave.

    def _make_callback(  # noqa: PLR0915 (a call costs more than a statement)
        self, frame_of: Callable[[], FrameType]
    ) -> Callable[[int | None, int, int, int], None]:
        """Return the callback, in one function over local names: an ``.item()`` runs the callback four times.

        ``frame_of`` returns the frame of the program entered last.
        """
        threads, calls, recorder = self._threads, self._calls, self._recorder
        active = threading._active  # type: ignore[attr-defined]
        entry_at, count = recorder.entry_at, recorder.count
        now, words, halves, pinned = perf_counter_ns, WORDS, HALVES, self._pinned

        def callback(_user: int | None, _domain: int, number: int, data: int) -> None:  # noqa: PLR0912 (a call costs more than a branch)
            try:
                ident = get_ident()
                thread = threads.get(ident)
                if thread is None:
                    thread = self._new_thread(ident)
                if thread.inside == number and halves[data >> 2]:  # the call returns
                    duration = now() - thread.began
                    thread.inside = 0
                    entry = thread.entry
                    if entry is not None:
                        if recorder.listeners:
                            self._count_aloud(thread, entry, duration, frame_of().f_back)
                        else:
                            count(entry, duration, thread.number)
                        thread.last = entry
                    elif thread.how == WAIT:
                        recorder.extend(thread.copy, duration)
                        thread.copy = None
                    elif thread.how != _PINNED and self._blocked(thread.how, duration, data):
                        self._count_copy(thread, number, duration, frame_of().f_back)
                    return
                if id(active.get(ident)) != thread.python:  # the thread that had this ident has ended
                    thread = self._new_thread(ident)
                thread.inside = number
                how, apis = calls[number]
                thread.how = how
                if how == WAIT:  # look at the stack now, while the GPU is still at work
                    frame = frame_of().f_back
                    if thread.copy is not None and thread.copied_at(frame):
                        thread.entry = None
                    elif thread.native:
                        thread.entry = self._native_entry(frame, apis[thread.way])
                    else:
                        thread.entry = entry_at(frame, apis[thread.way])
                    thread.way = 0
                else:
                    thread.entry = thread.copy = None
                    thread.way = _WAYS[how]
                    into_pinned = how == COPY_OUT and words[words[data + 16 >> 3] >> 3] in pinned
                    thread.how = _PINNED if into_pinned else how
                thread.began = now()
            except _TOO_DEEP:
                self._too_deep = True
            except BaseException as error:
                if keep(error):
                    _ = -again
                else:
                    self._stop(error)

        return enters_unasked(callback)

    def _and_starved(self) -> Callable[[int | None, int, int, int], None]:
        """Return the callback, with the measurement of idle GPU time before or after the callback."""
        starved, threads, calls = self._starved, self._threads, self._calls
        assert starved is not None
        callback = self._make_callback(_frame_of_caller)

        def measure(user: int | None, domain: int, number: int, data: int) -> None:
            try:
                leaves = HALVES[data >> 2]
                waits = number in calls and calls[number][0] == WAIT
                if not leaves and number in starved.destroys:
                    starved.forget(number, data)
                elif not waits:
                    if leaves:
                        starved.launched(get_ident(), perf_counter_ns())
                    else:
                        starved.launches_now(number, data, get_ident())
                if number in calls:
                    callback(user, domain, number, data)
                if leaves and waits:
                    starved.begin(threads[get_ident()].last, perf_counter_ns(), number, data)
            except _TOO_DEEP:
                self._too_deep = True
            except BaseException as error:
                if keep(error):
                    _ = -again
                else:
                    self._stop(error)

        return enters_unasked(measure)

    def _stop(self, error: BaseException) -> None:
        """Ignore all further calls: the callback is broken."""
        self._calls.clear()
        self._fail(f"the CUPTI callback failed: {error!r}")

    def _count_copy(self, thread: _Thread, number: int, duration: int, frame: FrameType | None) -> None:
        api = self._calls[number][1][thread.way]
        entry = self._native_entry(frame, api) if thread.native else self._recorder.entry_at(frame, api)
        thread.copy = thread.last = entry
        if frame is not None:
            thread.frame, thread.offset = id(frame), frame.f_lasti
        self._count_aloud(thread, entry, duration, frame)

    def _count_aloud(self, thread: _Thread, entry: Any, duration: int, frame: FrameType | None) -> None:
        try:
            self._recorder.count(entry, duration, thread.number, frame, self.name)
        except Exception as error:  # a guard raises
            if frame is None:
                raise
            raise_in(frame, error)

    def _native_entry(self, frame: FrameType | None, api: str) -> Any:
        """Return the entry of an autograd thread, with its node and the frame that blocks on it."""
        return self._recorder.entry_at(frame or backward_frame(), api, current_node())

    def _blocked(self, how: int, duration: int, data: int) -> bool:
        """Return whether a copy blocked the CPU; ``data`` points to (destination, source, size)."""
        if how == SHAPED:
            return duration >= LONG_NS
        parameters = WORDS[data + 16 >> 3] >> 3
        if how == COPY_OUT:
            return self._pageable(WORDS[parameters], duration)
        if WORDS[parameters + 2] <= STAGED_BYTES and duration < LONG_NS:
            return False
        if self._pageable(WORDS[parameters + 1], duration):
            return True
        return how == COPY_EITHER and self._pageable(WORDS[parameters], duration)

    def _pageable(self, pointer: int, duration: int) -> bool:
        """Return whether the driver has to stage a copy of this memory.

        Without the driver, the duration decides.
        """
        if self._driver is None:
            return duration >= LONG_NS
        if pointer in self._pinned:
            return False
        kind = ctypes.c_uint()
        if self._driver.cuPointerGetAttribute(ctypes.byref(kind), MEMORY_TYPE, _WORD(pointer)):
            return True
        if len(self._pinned) < MAX_PINNED:
            self._pinned.add(pointer)
        return False

    def _new_thread(self, ident: int) -> _Thread:
        python = threading._active.get(ident)  # type: ignore[attr-defined]
        thread = self._threads[ident] = _Thread(python, self._recorder.number_of(python))
        return thread


_known_names: dict[int, str] = {}
_known_calls: dict[
    int, tuple[int, tuple[str, str, str]]
] = {}  # by callback id; asking CUPTI for all names takes milliseconds
# The second is what ctypes makes of the first where it converts an argument.
_TOO_DEEP = (RecursionError, ctypes.ArgumentError)
_WORD = ctypes.c_uint64


def _frame_of_caller() -> FrameType:
    """Return the frame that called the caller."""
    return sys._getframe(2)


def current_node() -> Node | None:
    """Return (name, forward traceback) of the autograd node that runs on this thread, or None."""
    torch = sys.modules.get("torch")
    node = torch._C._current_autograd_node() if torch is not None else None
    if node is None:
        return None
    lines = node.metadata.get("traceback_") or ()  # only under anomaly mode (--backward-lines)
    return node.name(), tuple(line.partition("\n")[0].strip() for line in lines[-16:])


def backward_frame() -> FrameType | None:
    """Return the frame that blocks on the backward pass, where exactly one thread does."""
    waiting = [f for f in sys._current_frames().values() if f.f_code.co_name == "_engine_run_backward"]
    return waiting[0] if len(waiting) == 1 else None


def raise_in(frame: FrameType, error: Exception) -> None:
    """Raise ``error`` in ``frame`` at its next instruction, once the C call that it is in returns."""
    before, before_frame = sys.gettrace(), (frame.f_trace, frame.f_trace_opcodes)

    def trace(*_: Any) -> Any:
        sys.settrace(before)
        frame.f_trace, frame.f_trace_opcodes = before_frame
        raise error.with_traceback(None)

    frame.f_trace_opcodes = True
    frame.f_trace = trace
    sys.settrace(lambda *_: None)


def find_library() -> str | None:
    """Return the libcupti that torch has loaded, or the one in torch's own packages; None where there is none."""
    if not _found_library:
        _found_library.extend(filter(None, [_loaded_library() or _installed_library()]))
    return _found_library[0] if _found_library else None


_found_library: list[str] = []


def _loaded_library() -> str | None:
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            found = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "libcupti" in line}
    except OSError:
        return None
    return min(found, default=None)


def _installed_library() -> str | None:
    torch = sys.modules.get("torch")
    path = getattr(torch, "__file__", None)
    if path is None:
        return None
    packages = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    patterns = ("torch/lib", "nvidia/*/lib", "nvidia/cuda_cupti/lib")
    found = [path for p in patterns for path in glob.glob(os.path.join(packages, p, "libcupti*.so*"))]
    return min(found, default=None)


def _load_driver() -> Any:
    try:
        return ctypes.PyDLL("libcuda.so.1")  # asking for an attribute is not worth releasing the GIL
    except OSError:
        return None
