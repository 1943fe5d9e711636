"""Streams and events of the simulated GPU: work is complete when the call that queues it returns."""

from __future__ import annotations

import itertools
import threading
import time
from typing import TYPE_CHECKING, Any

import torch

from .tracebacks import without_our_frames

if TYPE_CHECKING:
    from .gpu import Gpu

_handles = itertools.count(1)


def make_classes(gpu: Gpu) -> tuple[Any, Any, Any, CurrentStreams]:
    """Return replacements for ``torch.cuda.Stream``, ``torch.cuda.Event`` and ``torch.Event``, and the current streams.

    The replacements report synchronization.
    """

    class EventOfAnyDevice(_Event):
        @without_our_frames
        def __init__(self, device: Any = None, **options: bool) -> None:
            if device is not None:
                torch.device(device)  # raises torch's own error
            super().__init__(**options)

        @without_our_frames
        def synchronize(self) -> None:
            # An event never recorded has no CUDA event yet, and torch does not call CUDA.
            if self._recorded is not None:
                gpu.judge_call("torch.cuda.Event.synchronize", {"input": self})

    class Event(EventOfAnyDevice):
        @without_our_frames
        def __init__(
            self,
            enable_timing: bool = False,
            blocking: bool = False,
            interprocess: bool = False,
            external: bool = False,
        ) -> None:
            _Event.__init__(self, enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)

    class Stream(_Stream):
        @without_our_frames
        def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
            index = gpu.cuda_index("cuda" if device is None else device)
            super().__init__(gpu.devices[index], priority, kwargs.get("stream_id"))

            self._entered: list[Any] = []

        def __enter__(self) -> Stream:
            self._entered.append(torch.cuda.stream(self))  # type: ignore[arg-type]  # a replacement for torch's class
            self._entered[-1].__enter__()
            return self

        def __exit__(self, *raised: Any) -> None:
            self._entered.pop().__exit__(*raised)

        @without_our_frames
        def synchronize(self) -> None:
            gpu.judge_call("torch.cuda.Stream.synchronize", {"input": self})

        def is_capturing(self) -> bool:
            return gpu.recording is not None

        def record_event(self, event: Any = None) -> Any:
            event = Event() if event is None else event
            event.record(self)
            return event

    _name(Event, "Event", "torch.cuda.streams")
    _name(Stream, "Stream", "torch.cuda.streams")
    _name(EventOfAnyDevice, "Event", "torch")
    return Stream, Event, EventOfAnyDevice, CurrentStreams(Stream)


def _name(made: type, name: str, module: str) -> None:
    """Give a replacement the name of torch's own class."""
    made.__name__ = made.__qualname__ = name
    made.__module__ = module


class CurrentStreams(threading.local):
    """The current stream of each device, by thread; initially the default stream."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._streams: dict[int, Any] = {}

    def get(self, index: int) -> Any:
        """Return the current stream of a device."""
        return self._streams.get(index) or self._kind(index, stream_id=0)

    def set(self, stream: Any) -> None:
        """Make a stream current on its device; do nothing for None."""
        if stream is not None:
            self._streams[stream.device_index] = stream


class _Stream:
    def __init__(self, device: torch.device, priority: int, stream_id: int | None) -> None:
        self.device = device
        self.device_index = device.index
        self.device_type = 1
        self.priority = priority
        self.stream_id = next(_handles) if stream_id is None else stream_id
        self.cuda_stream = self._as_parameter_ = self.stream_id

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the lowest and the highest priority."""
        return 0, -5

    def wait_event(self, event: Any) -> None:
        """Do nothing: the GPU would wait for the event, and the CPU would not."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: the GPU would wait for the stream, and the CPU would not."""

    def query(self) -> bool:
        """Return True: all work is complete."""
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class _Event:
    def __init__(
        self, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.enable_timing, self.blocking, self.interprocess = enable_timing, blocking, interprocess
        self.cuda_event = self._as_parameter_ = next(_handles)
        self._recorded: float | None = None

    def record(self, stream: Any = None) -> None:
        """Record the current host time."""
        self._recorded = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Do nothing: the GPU would wait for the event, and the CPU would not."""

    def query(self) -> bool:
        """Return True: all work is complete."""
        return True

    def elapsed_time(self, end_event: _Event) -> float:
        """Return the host time between two records in milliseconds; raise ValueError as torch does."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._recorded is None or end_event._recorded is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._recorded - self._recorded) * 1e3
