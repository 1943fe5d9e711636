"""Streams and events of the simulated GPU: work is complete when the call that queues it returns.

The simulation has the classes that torch has in C++. Torch's own Python classes run on top of them, and raise its errors.
"""

from __future__ import annotations

import itertools
import operator
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from .errors import SimulationError
from .kinds import is_cuda_device
from .patches import run_again
from .tracebacks import without_our_frames

if TYPE_CHECKING:
    from .gpu import Gpu

_CUDA = 1  # torch's number of this type of device
_HIGHEST = -3  # priority: torch 2.11 on an H200 has no higher one
_handles = itertools.count(1)


class Classes(NamedTuple):
    """The replacements for torch's classes of streams and events."""

    any_stream: Any  # torch.Stream
    any_event: Any  # torch.Event
    stream: Any  # torch.cuda.Stream
    event: Any  # torch.cuda.Event


def make_classes(gpu: Gpu) -> Classes:
    """Return replacements that report synchronization."""
    any_stream, any_event = _any_stream(gpu, torch.Stream), _any_event(gpu, torch.Event)
    bases = {
        "_CudaStreamBase": _stream_base(gpu, any_stream),
        "_CudaEventBase": _event_base(any_event, (any_stream, torch.Stream)),
    }
    made = run_again(torch.cuda.streams, bases)
    return Classes(any_stream, any_event, made.Stream, made.Event)


class _Stream:
    """The part of a stream that needs no device."""

    device: torch.device
    stream_id: int
    device_type = _CUDA
    _entered: list[Any]

    @property
    def device_index(self) -> int:
        index: int = self.device.index
        return index

    def __enter__(self) -> Any:
        self._entered.append(torch.cuda.stream(self))  # type: ignore[arg-type]  # a replacement for torch's class
        self._entered[-1].__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._entered.pop().__exit__(*raised)

    def wait_event(self, event: Any) -> None:
        """Do nothing: the GPU would wait for the event, and the CPU would not."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: the GPU would wait for the stream, and the CPU would not."""

    def query(self) -> bool:
        """Return True: all work is complete."""
        return True

    def __eq__(self, other: object) -> bool:
        mine = (self.device, self.stream_id)
        return isinstance(other, _Stream) and mine == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return f"torch.Stream device_type=cuda, device_index={self.device_index}, stream_id={self.stream_id}"


def _any_stream(gpu: Gpu, original: Any) -> Any:
    class Stream(_Stream):
        @without_our_frames
        def __new__(cls, *args: Any, **options: Any) -> Any:
            if "stream_id" in options:
                index, handle = options["device_index"], options["stream_id"]
                return cls._make(gpu.devices[index], handle, 0)
            made, device = _on_host(original, args, options), _device_of(args, options)
            if device is not None and not is_cuda_device(device):
                return made
            index = gpu.cuda_index("cuda" if device is None else device)
            return cls._make(gpu.devices[index], next(_handles), options.get("priority", 0))

        @classmethod
        def _make(cls, device: torch.device, handle: int, priority: int) -> Any:
            made = object.__new__(cls)
            made.device, made.stream_id, made._entered = device, handle, []
            if priority:
                gpu.priorities[handle] = max(priority, _HIGHEST)
            return made

        @without_our_frames
        def synchronize(self) -> None:
            gpu.judge_call("torch.cuda.Stream.synchronize", {"input": self})

        def is_capturing(self) -> bool:
            return gpu.recording is not None

        def record_event(self, event: Any = None) -> Any:
            event = torch.Event("cuda") if event is None else event
            event.record(self)
            return event

    return _named(Stream, "torch.Stream")


def _stream_base(gpu: Gpu, any_stream: Any) -> Any:
    class CudaStreamBase(any_stream):  # type: ignore[misc]  # a base known only at run time
        @without_our_frames
        def __new__(cls, **options: Any) -> Any:
            names = ("priority", "stream_id", "device_index", "device_type", "stream_ptr")
            priority, handle, index, device_type, pointer = _integers(names, options)
            if pointer:
                raise SimulationError("an external stream cannot be simulated: it needs a real GPU")
            if handle or index or device_type:
                return cls._make(gpu.devices[index], handle, priority)
            return cls._make(gpu.devices[gpu.cuda_index("cuda")], next(_handles), priority)

        @property
        def cuda_stream(self) -> int:
            handle: int = self.stream_id
            return handle

        @property
        def priority(self) -> int:
            return gpu.priorities.get(self.stream_id, 0)

        @staticmethod
        def priority_range(*no: Any) -> tuple[int, int]:
            """Return the lowest and the highest priority."""
            if no:
                raise TypeError(f"_CudaStreamBase.priority_range() takes no arguments ({len(no)} given)")
            return 0, _HIGHEST

    return _named(CudaStreamBase, "torch._C._CudaStreamBase")


class _Event:
    """The part of an event that needs no device."""

    device: Any  # None while an event of `torch.cuda` is not recorded
    event_id: int
    _timed: bool
    _recorded: float | None

    @classmethod
    def _make(cls, device: torch.device | None, timed: bool) -> Any:
        made = object.__new__(cls)
        made.device, made._timed, made._recorded, made.event_id = device, timed, None, 0
        return made

    def record(self, stream: Any = None) -> None:
        """Record the current host time."""
        self._recorded = time.perf_counter()
        self.event_id = self.event_id or next(_handles)

    def wait(self, stream: Any = None) -> None:
        """Do nothing: the GPU would wait for the event, and the CPU would not."""

    def query(self) -> bool:
        """Return True: all work is complete."""
        return True

    @without_our_frames
    def elapsed_time(self, end_event: Any) -> float:
        """Return the host time between two records in milliseconds; raise ValueError as torch does."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._recorded is None or end_event._recorded is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(end_event._recorded - self._recorded) * 1e3

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> Any:
        raise SimulationError("an event of another process cannot be simulated: it needs a real GPU")

    def ipc_handle(self) -> Any:
        raise SimulationError("an event for another process cannot be simulated: it needs a real GPU")

    def __repr__(self) -> str:
        recorded = self.device.index if self.event_id else -1
        return (
            f"torch.Event device_type=cuda, device_index={recorded}, "
            f"event_flag={int(self._timed)}, event_id={self.event_id}"
        )


def _any_event(gpu: Gpu, original: Any) -> Any:
    class Event(_Event):
        @without_our_frames
        def __new__(cls, *args: Any, **options: Any) -> Any:
            made, device = _on_host(original, args, options), _device_of(args, options)
            if device is not None and not is_cuda_device(device):
                return made
            index = gpu.cuda_index("cuda" if device is None else device)
            return cls._make(gpu.devices[index], options.get("enable_timing", False))

        @without_our_frames
        def synchronize(self) -> None:
            # An event never recorded has no CUDA event yet, and torch does not call CUDA.
            if self._recorded is not None:
                gpu.judge_call("torch.cuda.Event.synchronize", {"input": self})

    return _named(Event, "torch.Event")


def _event_base(any_event: Any, streams: tuple[Any, ...]) -> Any:
    """Return the base of ``torch.cuda.Event``; ``streams`` are the classes of what it may be recorded in."""

    class CudaEventBase(any_event):  # type: ignore[misc]  # a base known only at run time
        @without_our_frames
        def __new__(cls, **options: Any) -> Any:
            timed, *_ = _integers(("enable_timing", "blocking", "interprocess", "external"), options)
            return cls._make(None, bool(timed))

        @without_our_frames
        def record(self, stream: Any) -> None:
            _check(stream, streams, "stream to be a torch.Stream or torch.cuda.Stream object")
            super().record()
            self.device = stream.device

        @without_our_frames
        def wait(self, stream: Any) -> None:
            _check(stream, streams, "stream to be a torch.Stream or torch.cuda.Stream object")

        @without_our_frames
        def elapsed_time(self, end_event: Any) -> float:
            _check(end_event, any_event, "other to be a torch.cuda.Event object")
            return float(super().elapsed_time(end_event))

        @property
        def cuda_event(self) -> int:
            handle: int = self.event_id
            return handle

    return _named(CudaEventBase, "torch._C._CudaEventBase")


def _check(value: Any, classes: Any, expected: str) -> None:
    """Raise the error of torch 2.11 on CUDA for an argument that is of none of some classes."""
    if not isinstance(value, classes):
        raise RuntimeError(f"expected {expected}")


def _named(made: type, name: str) -> Any:
    made.__module__, _, made.__name__ = name.rpartition(".")
    made.__qualname__ = made.__name__
    return made


def _device_of(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return args[0] if args else options.get("device")


def _on_host(original: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Make a stream or event of the host in place of one on CUDA: torch raises its own error if the arguments are wrong."""
    device = _device_of(args, options)
    if device is None or is_cuda_device(device):
        args, options = (("cpu", *args[1:]), options) if args else (args, {**options, "device": "cpu"})
    return original(*args, **options)


def _integers(names: tuple[str, ...], options: dict[str, Any]) -> list[int]:
    """Return the integer options of a class in C; raise the errors of Python's own parser of such arguments."""
    for name in options:
        if name not in names:
            raise TypeError(
                f"{name!r} is an invalid keyword argument for this function"
                if sys.version_info < (3, 13)
                else f"this function got an unexpected keyword argument {name!r}"
            )
    return [operator.index(options.get(name, 0)) for name in names]


class CurrentStreams(threading.local):
    """The current stream of each device, by thread; initially the default stream.

    The functions have the names and the results of those in C++ that torch's own functions call.
    """

    def __init__(self) -> None:
        self._current: dict[int, int] = {}

    def of_cuda(self, device_index: int) -> tuple[int, int, int]:
        """Return the number of the current stream of a device, the index and the type of the device."""
        return self._current.get(device_index, 0), device_index, _CUDA

    @staticmethod
    def default_of_cuda(device_index: int) -> tuple[int, int, int]:
        """Return the same of the default stream."""
        return 0, device_index, _CUDA

    def set(self, stream_id: int, device_index: int, device_type: int) -> None:
        """Make a stream current on its device."""
        self._current[device_index] = stream_id
