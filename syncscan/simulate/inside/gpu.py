"""The simulated GPUs: their devices, the verdicts of the operation table on calls, and the listeners of these verdicts."""

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
from .errors import CudaError
from .functions import FunctionPlan, Scope
from .gradients import uncalled_reads
from .kinds import tensors_in
from .marks import PINNED, place
from .plans import Plan
from .recording import GraphRecording
from .taint import kernels_behind
from .uncomputed import Uncomputed

_OUTSIDE = (
    *(str(Path(found).parent) + os.sep for found in (__file__, torch.__file__)),
    contextlib.__file__,  # frames of `judging`
)


class Sync(NamedTuple):
    """One call that would have blocked the CPU."""

    api: str  # the operation, as the table names it
    effect: str  # how it blocks: a value of ``syncscan.ops.Effect``
    name: str  # the function that ran: the operation, or its aten name
    operands: dict[str, str]  # its tensors: {"input": "cuda:0 float32 [4, 4]"}
    breaks_graph: bool  # whether ``torch.compile`` would break its graph here
    uncomputed: bool  # whether the value derives from a kernel that did not run


Listener = Callable[[Sync], None]


class CallWatch(Protocol):
    """The state of the call interception in one thread."""

    scope: Scope | None
    recording: GraphRecording | None  # of the CUDA graph that the thread captures


class Gpu:
    """The state and services that all modules of the simulation share."""

    def __init__(self, table: PlainTable, devices: int, kernels: str) -> None:
        self.table = Table(table)
        self.kernels = kernels  # which GPU-only kernels run: "auto", "zeros" (none), "interpret"
        self.listeners: list[Listener] = []
        self.when_used: list[Callable[[], None]] = []  # called once, when the program first names the device
        self.devices = [torch.device("cuda", index) for index in range(devices)]
        self.current = 0  # the index of the current device
        self.priorities: dict[int, int] = {}  # of streams, by their number, where one is set
        self.running = False
        self.plans: dict[Any, Plan] = {}
        self.uncomputed = Uncomputed()
        self.functions: dict[Any, FunctionPlan | None] = {}
        self.autocast: AutocastState  # set when the simulation starts

    @property
    def operations(self) -> CallWatch | None:
        """The call interception of this thread; None if the thread is not simulated."""
        raise NotImplementedError  # `Simulation` knows which threads are simulated

    # Queries of the modes

    def cuda_index(self, device: Any) -> int:
        """Return the index of a device argument that names a GPU; raise RuntimeError if there is no such device."""
        while self.when_used:
            self.when_used.pop()()
        index = device if isinstance(device, int) else torch.device(device).index
        if index is None:
            return self.current
        if index >= len(self.devices):
            raise CudaError(
                f"CUDA error: invalid device ordinal (simulated GPUs: {len(self.devices)}; "
                "CUDA_VISIBLE_DEVICES=0,1 for `syncscan trace --simulate` makes it two)"
            )
        return index

    @staticmethod
    def check_generator(generator: Any) -> None:
        """Raise torch's RuntimeError if ``generator`` is a host generator other than the default one."""
        if generator not in {None, torch.default_generator} and generator.device.type != "cuda":
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")

    # CUDA graphs

    @property
    def recording(self) -> GraphRecording | None:
        """The recording of the CUDA graph that this thread captures, or None."""
        return None if self.operations is None else self.operations.recording

    def record(self, recording: GraphRecording | None) -> None:
        """Begin to record the kernels of this thread into a graph, or end the recording with None."""
        if self.operations is not None:
            self.operations.recording = recording

    # Reports

    def launched(self, name: str) -> None:
        """Count a launch of a kernel whose results the simulation does not compute."""
        self.uncomputed.counts[name] += 1
        if self.recording is not None:
            self.recording.add(partial(self.launched, name), (), ())

    def judge(self, scope: Scope, bound: dict[str, Any]) -> None:
        """Report a call of a public function if the operation table says that the call blocks."""
        operation = scope.operation
        effect = operation.effect(bound) if operation is not None else None
        if operation is not None and effect is not None:
            scope.blocked = True
            for _ in range(operation.times(effect, bound)):
                self.report(operation.name, effect, scope.function, bound)

    def judge_call(self, name: str, bound: dict[str, Any]) -> None:
        """Report a call that no mode intercepts, unless it is part of a call that was judged already."""
        operations = self.operations
        inside = (
            operations is not None and operations.scope is not None and operations.scope.operation is not None
        )
        operation = None if inside else self.table.operations.get(name)
        effect = operation.effect(operation.with_elements(bound)) if operation is not None else None
        if effect is not None:
            self.report(name, effect, name, bound)

    def judge_formula(self, operation: str, args: Any) -> None:
        """Report the reads of the current formula of autograd that torch leaves out where a mode is active."""
        formula, reads = uncalled_reads(operation, args)
        for _ in range(reads):
            self.report("torch.Tensor.item", "reads a scalar", formula, {"input": args[0]})

    @contextmanager
    def judging(self, name: str, bound: dict[str, Any]) -> Iterator[None]:
        """Judge a Python function as a whole; the calls in its body are part of it."""
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
        """Run compiled code, of which modes see no public function; its tensors are on the device of its operands."""
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
        """Report a call that would have blocked to the listeners; raise CUDA's RuntimeError during a graph capture."""
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
    """Return the innermost frame of the program, outside torch and the simulation; listeners call this function."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.startswith(_OUTSIDE):  # the listener itself
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename.startswith(_OUTSIDE):
        frame = frame.f_back
    return frame


def describe(bound: dict[str, Any]) -> dict[str, str]:
    """Return the first tensor of each argument as text: device, pinned or not, dtype and shape."""
    return {name: _describe(tensor) for name, value in bound.items() for tensor in tensors_in(value)[:1]}


def _describe(tensor: torch.Tensor) -> str:
    where = place(tensor)
    device = "cpu" if where is None else "pinned cpu" if where == PINNED else f"cuda:{where}"
    shape = "nested" if tensor.is_nested else str(list(tensor.shape))
    return f"{device} {str(tensor.dtype).rpartition('.')[2]} {shape}"
