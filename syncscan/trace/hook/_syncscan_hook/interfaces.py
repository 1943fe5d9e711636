"""The interfaces between the parts of the hook; for the type checker alone, and not imported at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, Protocol

Note = Callable[[str], None]  # takes a message for the report
Node = tuple[str, tuple[str, ...]]  # of autograd: its name, and its forward traceback
Position = tuple[CodeType, int]  # in code: the offset of an instruction
Listener = Callable[[Any, int, "FrameType | None", str], None]  # (entry, ns, frame, detector); may raise


class Detector(Protocol):
    """Sees synchronizations, and hands each to a recorder."""

    @property
    def name(self) -> str:
        """Return the name of the detector in a trace."""

    def arm(self) -> str | None:
        """Start without starting CUDA; return None, or the reason for a failure in one line."""

    def before_flush(self) -> None:
        """Prepare a flush: the flushing thread calls this method once a second."""

    def disarm(self) -> None:
        """Stop a running detector, and restore everything that its start changed."""


class Sink(Protocol):
    """Keeps what detectors see. Called inside CUDA callbacks: no lock, no I/O, no import."""

    @property
    def recording(self) -> bool:
        """Return whether the recording is on."""

    @property
    def listeners(self) -> Sequence[Listener]:
        """Return the listeners to synchronizations."""

    def record(
        self, api: str, duration_ns: int, frame: FrameType, detector: str, node: Node | None = None
    ) -> Any:
        """Count one synchronization at a frame; return its entry."""

    def entry_at(self, frame: FrameType | None, api: str, node: Node | None = None) -> Any:
        """Return the entry of the stack that ends in a frame (None: no Python on this thread)."""

    def number_of(self, thread: Any) -> int:
        """Return the number of a thread of Python, or of all other threads (None)."""

    def count(
        self, entry: Any, duration_ns: int, thread: int, frame: FrameType | None = None, detector: str = ""
    ) -> None:
        """Count one synchronization of an entry, on a thread of this number; a listener may raise."""

    def extend(self, entry: Any, duration_ns: int) -> None:
        """Add to the time of the event that an entry counted last."""


class Watch(Protocol):
    """An observer of the code that runs, blocking or not."""

    def changed(self, *, whole: bool) -> Iterator[tuple[str, Any]]:
        """Yield the records since the last call, or all: the name of a record, and the record."""

    def reset(self) -> None:
        """Discard, in a forked child, the record of what the parent did."""
