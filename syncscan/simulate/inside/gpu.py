"""The simulated GPUs: which there are, what the operation table says of a call for them, and who is told."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Protocol

import torch

from .autocast import AutocastState
from .compiled import breaks_graph
from .conditions import PlainTable, Table
from .functions import FunctionPlan, Scope
from .kinds import tensors_in
from .marks import PINNED, place
from .plans import Plan
from .recording import GraphRecording
from .taint import kernels_behind
from .uncomputed import Uncomputed

_OUTSIDE = (
    *(str(Path(found).parent) + os.sep for found in (__file__, torch.__file__)),
    contextlib.__file__,  # through which `judging` is entered
)


class Sync(NamedTuple):
    """One call that would have blocked."""

    api: str  # the operation, as the table names it
    effect: str  # how it blocks: a value of ``syncscan.ops.Effect``
    name: str  # the function that ran: the operation itself, or what aten calls it
    operands: dict[str, str]  # its tensors: {"input": "cuda:0 float32 [4, 4]"}
    breaks_graph: bool  # of a function that ``torch.compile`` would compile
    uncomputed: bool  # what is read was not computed, or was made of such


Listener = Callable[[Sync], None]


class CallWatch(Protocol):
    """What sees the calls of one thread."""

    scope: Scope | None
    recording: GraphRecording | None  # of the CUDA graph that the thread captures


class Gpu:
    """What every part of the simulation may ask."""

    def __init__(self, table: PlainTable, devices: int, kernels: str) -> None:
        self.table = Table(table)
        self.kernels = (
            kernels  # which of those for the GPU alone are run: "auto", "zeros" (none), "interpret"
        )
        self.listeners: list[Listener] = []
        self.when_used: list[Callable[[], None]] = []  # called once, when the program first names the device
        self.devices = [torch.device("cuda", index) for index in range(devices)]
        self.current = 0  # the index of the current device
        self.running = False
        self.plans: dict[Any, Plan] = {}
        self.uncomputed = Uncomputed()
        self.functions: dict[Any, FunctionPlan | None] = {}
        self.autocast: AutocastState  # from when it runs

    @property
    def operations(self) -> CallWatch | None:
        """What watches this thread, if it is simulated."""
        raise NotImplementedError

    # what the modes ask

    def cuda_index(self, device: Any) -> int:
        """The index of a device argument that names a GPU; RuntimeError if there is no such device."""
        while self.when_used:
            self.when_used.pop()()
        index = device if isinstance(device, int) else torch.device(device).index
        if index is None:
            return self.current
        if index >= len(self.devices):
            raise RuntimeError(
                f"CUDA error: invalid device ordinal ({len(self.devices)} simulated GPUs; "
                "CUDA_VISIBLE_DEVICES=0,1 for `syncscan trace --simulate` makes it two)"
            )
        return index

    @staticmethod
    def check_generator(generator: Any) -> None:
        """Raise what torch raises for a generator of the host."""
        if generator not in {None, torch.default_generator} and generator.device.type != "cuda":
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")

    # CUDA graphs

    @property
    def recording(self) -> GraphRecording | None:
        """That of the graph which this thread captures."""
        return None if self.operations is None else self.operations.recording

    def record(self, recording: GraphRecording | None) -> None:
        """Begin to keep the kernels that this thread runs, or end that."""
        if self.operations is not None:
            self.operations.recording = recording

    # what was seen

    def launched(self, name: str) -> None:
        """Note that a kernel was launched and its numbers were not computed."""
        self.uncomputed.counts[name] += 1
        if self.recording is not None:
            self.recording.add(partial(self.launched, name), (), ())

    def judge(self, scope: Scope, bound: dict[str, Any]) -> None:
        """Report a call of a public function if the table says that it blocks."""
        operation = scope.operation
        effect = operation.effect(bound) if operation is not None else None
        if operation is not None and effect is not None:
            scope.blocked = True
            self.report(operation.name, effect, scope.function, bound)

    def judge_call(self, name: str, bound: dict[str, Any]) -> None:
        """Report a call that no mode sees, unless it is a part of one that was judged."""
        operations = self.operations
        inside = (
            operations is not None and operations.scope is not None and operations.scope.operation is not None
        )
        operation = None if inside else self.table.operations.get(name)
        effect = operation.effect(operation.with_elements(bound)) if operation is not None else None
        if effect is not None:
            self.report(name, effect, name, bound)

    @contextmanager
    def judging(self, name: str, bound: dict[str, Any]) -> Iterator[None]:
        """Judge a call of Python code as a whole: what it does inside is a part of it."""
        self.judge_call(name, bound)
        operations = self.operations
        if operations is None or operations.scope is not None:
            yield
            return
        operations.scope = Scope(name, self.table.operations[name], (), {})
        try:
            yield
        finally:
            operations.scope = None

    @contextmanager
    def inside(self, function: Any, args: Any, kwargs: Any) -> Iterator[None]:
        """Run compiled code, of which no public function is seen: what it makes lies with its operands."""
        operations = self.operations
        if operations is None or not self.running:
            yield
            return
        outer, operations.scope = operations.scope, Scope(function, None, args, kwargs)
        try:
            yield
        finally:
            operations.scope = outer

    def report(self, api: str, effect: str, function: Any, bound: dict[str, Any]) -> None:
        """Tell the listener about a call that would have blocked; RuntimeError where a graph is captured."""
        if self.recording is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        name = function if isinstance(function, str) else getattr(function, "__name__", str(function))
        breaks = breaks_graph(self.table.operations.get(api), api, effect)
        behind = kernels_behind(bound.values()) if self.uncomputed.counts else frozenset()
        self.uncomputed.note_read(behind)
        sync = Sync(api, effect, name, describe(bound), breaks, bool(behind))
        for listener in tuple(self.listeners):
            listener(sync)


def calling_frame() -> FrameType | None:
    """The frame of the program that made the call, for a listener to ask: below torch and the simulation."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.startswith(_OUTSIDE):  # the listener itself
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename.startswith(_OUTSIDE):
        frame = frame.f_back
    return frame


def describe(bound: dict[str, Any]) -> dict[str, str]:
    """The tensors of a call in words: device, pinned or not, dtype and shape."""
    return {name: _describe(tensor) for name, value in bound.items() for tensor in tensors_in(value)[:1]}


def _describe(tensor: torch.Tensor) -> str:
    where = place(tensor)
    device = "cpu" if where is None else "pinned cpu" if where == PINNED else f"cuda:{where}"
    shape = "nested" if tensor.is_nested else str(list(tensor.shape))
    return f"{device} {str(tensor.dtype).rpartition('.')[2]} {shape}"
