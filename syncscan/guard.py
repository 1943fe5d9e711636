"""Forbids, allows or counts the synchronizations of a region of code.

A region belongs to the thread or asyncio task that enters it, and regions nest: the innermost that
forbids or allows decides. Synchronizations on threads of the autograd engine belong to none.
Without CUDA the regions do nothing.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from types import FrameType, TracebackType
from typing import Any, TypeVar

_Self = TypeVar("_Self", bound="_Region")
_LIBRARY = os.__file__.rpartition("/")[0] + "/"
_SIMULATION = __file__.rpartition("/")[0] + "/simulate/inside/"


def _not_compiling() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class SeenSync:
    """One site that blocked the CPU, and the CUDA call that did."""

    path: str
    line: int
    function: str
    api: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} in {self.function} ({self.api})"


class SyncError(RuntimeError):
    """A synchronization in a `forbid_sync` region; raised at the operation that blocked."""

    def __init__(self, sync: SeenSync) -> None:
        super().__init__(f"the CPU was blocked at {sync}; wrap it in allow_sync(reason) if it has to")
        self.sync = sync


class _Region:
    """The common part of the three kinds of region: entering and leaving, in any order and any task."""

    def __init__(self) -> None:
        global _is_compiling  # noqa: PLW0603 (torch's own function, once torch is there)
        if "torch" in sys.modules:
            _is_compiling = sys.modules["torch"].compiler.is_compiling

    def __enter__(self: _Self) -> _Self:
        if not _is_compiling():
            _regions.set((*_regions.get(), self))
            _detectors.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not _is_compiling():
            _detectors.release()
            regions = list(_regions.get()[::-1])
            if self in regions:  # and not left in another context than it was entered in
                regions.remove(self)  # the innermost, wherever it stands: regions may overlap
                _regions.set(tuple(regions[::-1]))

    def sees(self, sync: SeenSync) -> bool:
        """Note a synchronization; return whether to hide it from the regions around this one."""
        raise NotImplementedError


class forbid_sync(_Region):  # noqa: N801 (used like a keyword)
    """Raise `SyncError` at the operation that blocks the CPU in this region."""

    def sees(self, sync: SeenSync) -> bool:
        """Raise `SyncError`."""
        raise SyncError(sync)


class allow_sync(_Region):  # noqa: N801 (used like a keyword)
    """Let this region block, for the reason given; a trace lists the region apart."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def sees(self, sync: SeenSync) -> bool:  # noqa: ARG002 (as a recorder has it)
        """Hide the synchronization from the regions around."""
        return True


class count_syncs(_Region):  # noqa: N801 (used like a keyword)
    """Count the synchronizations of this region: ``total``, and ``sites`` by source expression."""

    def __init__(self) -> None:
        super().__init__()
        self.sites: Counter[SeenSync] = Counter()

    @property
    def total(self) -> int:
        """Return the number of synchronizations."""
        return sum(self.sites.values())

    def sees(self, sync: SeenSync) -> bool:
        """Count the synchronization."""
        self.sites[sync] += 1
        return False


class count_all_syncs(count_syncs):  # noqa: N801 (used like a keyword)
    """Count the synchronizations of all threads while this region is open, but for those that their own regions hide."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()  # a destructor that runs here may block the CPU again

    def __enter__(self) -> count_all_syncs:
        global _of_process  # noqa: PLW0603 (one for all threads, unlike a context variable)
        _of_process = (*_of_process, self)
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _of_process  # noqa: PLW0603 (one for all threads, unlike a context variable)
        super().__exit__(kind, error, trace)
        _of_process = tuple(region for region in _of_process if region is not self)

    def sees(self, sync: SeenSync) -> bool:
        """Count the synchronization."""
        with self._lock:
            return super().sees(sync)


_is_compiling: Callable[[], bool] = _not_compiling
_of_process: tuple[_Region, ...] = ()  # around the regions of every thread
_regions: ContextVar[tuple[_Region, ...]] = ContextVar("syncscan_regions", default=())


def _on_wait(entry: Any, duration_ns: int, frame: FrameType | None, detector: str) -> None:  # noqa: ARG001
    """Report a synchronization to the regions of this thread or task, from the innermost out."""
    own = _regions.get()
    regions = (*(region for region in _of_process if region not in own), *own)
    if not regions or frame is None:
        return
    sync = _sync_at(frame, entry.api.partition(":")[0])
    for region in reversed(regions):
        if region.sees(sync):
            return


def notice(api: str, frame: FrameType) -> None:
    """Report a synchronization that ``api`` would have made to the regions of this thread or task; for the simulated GPU."""
    _on_wait(_Event(api), 0, frame, "simulated")


def _sync_at(frame: FrameType, api: str) -> SeenSync:
    """Return the synchronization at the innermost frame outside torch and the standard library, or else outside torch."""
    frames = _outside_torch(frame)
    outside = next(frames, frame)
    chosen = next((each for each in chain((outside,), frames) if _is_of_program(each)), outside)
    code = chosen.f_code
    return SeenSync(code.co_filename, chosen.f_lineno, getattr(code, "co_qualname", code.co_name), api)


def _outside_torch(frame: FrameType) -> Iterator[FrameType]:
    folder = (sys.modules["torch"].__file__ or "").rpartition("/")[0] + "/"
    walk: FrameType | None = frame
    while walk is not None:
        if not walk.f_code.co_filename.startswith(folder):
            yield walk
        walk = walk.f_back


def _is_of_program(frame: FrameType) -> bool:
    path = frame.f_code.co_filename
    if path.startswith((_SIMULATION, "<frozen")):
        return False
    return not path.startswith(_LIBRARY) or "-packages/" in path


def _reason() -> str | None:
    """Return the reason of the innermost region, if that region allows synchronization."""
    for region in reversed(_regions.get()):
        if isinstance(region, allow_sync):
            return region.reason
        if isinstance(region, forbid_sync):
            return None
    return None


@dataclass(slots=True)
class _Event:
    """A stand-in for an entry of a trace, where nothing is recorded."""

    api: str
    stack: tuple[int, ...] = ()
    warned: int = 0


class _Watcher:
    """A stand-in for a trace's recorder that informs the regions, and records nothing."""

    listeners = (_on_wait,)

    def record(self, api: str, duration_ns: int, frame: FrameType, detector: str, node: Any = None) -> None:
        self.count(self.entry_at(frame, api, node), duration_ns, 0, frame, detector)

    def entry_at(self, frame: FrameType | None, api: str, node: Any = None) -> _Event:  # noqa: ARG002 (as a recorder has it)
        return _Event(api)

    def number_of(self, thread: threading.Thread | None) -> int:  # noqa: ARG002 (as a recorder has it)
        return 0

    def count(
        self,
        event: _Event,
        duration_ns: int,
        thread: int,  # noqa: ARG002 (as a recorder has it)
        frame: FrameType | None,
        detector: str,
    ) -> None:
        _on_wait(event, duration_ns, frame, detector)

    def extend(self, event: _Event, duration_ns: int) -> None:
        """Ignore durations."""


class _Detectors:
    """The detectors, armed while any region is open; in a traced process, the listener to the trace's detectors."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._armed: list[Any] = []
        self._listening = False
        self._waiting = False
        self.notes: list[str] = []

    def acquire(self) -> None:
        """Open one more region."""
        with self._lock:
            self._users += 1
            if self._users == 1 and not self._listen_to_trace():
                self._arm_when_cuda_starts()

    def release(self) -> None:
        """Close one region; disarm the detectors with the last."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                while self._armed:
                    self._armed.pop().disarm()

    def _listen_to_trace(self) -> bool:
        if self._listening:
            return True
        start = sys.modules.get("_syncscan_hook.start")
        hook = start.load_hook() if start is not None else None
        if hook is None:
            return False
        hook.recorder.region = _reason
        hook.recorder.listeners.append(_on_wait)
        self._listening = True
        return True

    def _arm_when_cuda_starts(self) -> None:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            self._arm()
        elif not self._waiting:
            self._waiting = True
            watch = importlib.import_module("syncscan.trace.hook._syncscan_hook.imports").ImportWatch()
            # Queued calls run once CUDA starts, and do not start it.
            watch.when_imported("torch", lambda torch: torch.cuda._lazy_call(self._arm))

    def _arm(self) -> None:
        if self._users and not self._armed and not _is_simulated():
            hook = importlib.import_module("syncscan.trace.hook._syncscan_hook.arm")
            self._armed = hook.arm("auto", _Watcher(), self.notes.append, self.notes.append)


def _is_simulated() -> bool:
    """Return whether the GPU is simulated; CUPTI would crash there, without a driver."""
    simulation = sys.modules.get("syncscan.simulate.inside.simulation")
    return getattr(simulation, "current", None) is not None


_detectors = _Detectors()
