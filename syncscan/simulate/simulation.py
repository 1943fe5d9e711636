"""One running simulation: what is replaced in torch, the modes of each thread, and what was seen."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch

from . import capture, constructors, distributed
from .cuda import SimulatedCuda, replace_everywhere
from .gradients import remember_place
from .kinds import tensors_in
from .marks import PINNED, place
from .modes import Rule, Scope
from .patches import Patches
from .plans import Plan
from .rules import PlainTable, Rules
from .threads import ThreadModes, Threads
from .transfers import Transfers


class Sync(NamedTuple):
    """One call that would have blocked."""

    api: str  # the operation, as the table names it
    effect: str  # how it blocks: a value of ``syncscan.ops.Effect``
    name: str  # the function that ran: the operation itself, or what aten calls it
    operands: dict[str, str]  # its tensors: {"input": "cuda:0 float32 [4, 4]"}


Listener = Callable[[Sync], None]
# The one that runs: torch has one set of attributes to replace.
current: Simulation | None = None
lock = threading.RLock()  # held where one begins or ends

_OUTSIDE = tuple(str(Path(found).parent) + os.sep for found in (__file__, torch.__file__))


class Simulation:
    """A simulated GPU for the whole process."""

    def __init__(self, table: PlainTable, devices: int = 1) -> None:
        self.rules = Rules(table)
        self.listeners: list[Listener] = []
        self.when_used: list[Callable[[], None]] = []  # called once, when the program first names the device
        self.devices = [torch.device("cuda", index) for index in range(devices)]
        self.running = False
        self.plans: dict[Any, Plan] = {}
        self.functions: dict[Any, Rule | None] = {}
        self.cuda = SimulatedCuda(self)
        self.threads = Threads(self)
        self._patches = Patches()
        self._joined = 0
        self._main: Any = None

    # starting and stopping

    def start(self) -> None:
        """Let it run until `stop`, or longer, and simulate the calling thread."""
        self._main = self.join()

    def stop(self) -> None:
        """Take back `start`."""
        self.part(self._main)

    def join(self) -> ThreadModes:
        """Simulate the calling thread, and let it run until all that joined have parted."""
        global current
        with lock:
            if not self.running:
                self._install()
                self.running, current = True, self
            self._joined += 1
            return self.threads.enter()

    def part(self, modes: ThreadModes) -> None:
        """Take back one `join`, in any thread; the last one puts everything back."""
        global current
        with lock:
            self.threads.leave(modes)
            self._joined -= 1
            if self._joined == 0:
                self.running, current = False, None
                self.threads.end()
                self._patches.restore()

    def _install(self) -> None:
        self.functions = self._known_functions()
        try:
            Transfers(self).install(self._patches)
            self.cuda.install(self._patches)
            constructors.install(self, self._patches)
            capture.install(self, self._patches)
            distributed.install(self, self._patches)
            self.threads.cover_new_ones(self._patches)
            self._cover_backward()
            self._cover_pack_hooks()
            self._cover_functions()
        except BaseException:
            self._patches.restore()
            raise

    def _cover_backward(self) -> None:
        """Python code that runs in backward sees the modes too: torch hides them inside ``backward()``."""
        run = torch.autograd.graph._engine_run_backward

        def covered(*args: Any, **kwargs: Any) -> Any:
            with self.threads.seeing_functions():
                return run(*args, **kwargs)

        replace_everywhere(self._patches, torch.autograd, "_engine_run_backward", covered)

    def _cover_pack_hooks(self) -> None:
        """What the program does with tensors that are saved for backward, inside whatever function saves them."""
        autograd: Any = torch._C._autograd
        push, pop = autograd._push_saved_tensors_default_hooks, autograd._pop_saved_tensors_default_hooks

        def covered_push(pack: Any, unpack: Any) -> None:
            def covered_pack(tensor: Any) -> Any:
                with self.threads.seeing_functions():
                    return pack(tensor)

            self._count_pack_hook(1)
            push(covered_pack, unpack)

        def covered_pop() -> None:
            self._count_pack_hook(-1)
            pop()

        self._patches.replace(autograd, "_push_saved_tensors_default_hooks", covered_push)
        self._patches.replace(autograd, "_pop_saved_tensors_default_hooks", covered_pop)

    def _count_pack_hook(self, change: int) -> None:
        operations = self.threads.operations
        if operations is not None:
            operations.pack_hooks += change

    def _cover_functions(self) -> None:
        """A function of the program may move its operands: let its node know where its result lies."""
        apply = torch.autograd.Function.apply.__func__  # type: ignore[attr-defined]

        def covered(cls: Any, *args: Any, **kwargs: Any) -> Any:
            result = apply(cls, *args, **kwargs)
            for tensor in tensors_in(result):
                remember_place(tensor)
            return result

        self._patches.replace(torch.autograd.Function, "apply", classmethod(covered))

    def _known_functions(self) -> dict[Any, Rule | None]:
        functions: dict[Any, Rule | None] = {}
        for function, operation in self.rules.resolved(_attribute):
            functions[function] = None if operation.is_query else Rule(function, operation)
        # These are replaced by methods that judge for themselves, or ask nothing of the device.
        functions.update(
            (getattr(torch.Tensor, name), None) for name in (*Transfers.METHODS, "untyped_storage")
        )
        return functions

    # what the modes ask

    def cuda_index(self, device: Any) -> int:
        """The index of a device argument that names a GPU; RuntimeError if there is no such device."""
        while self.when_used:
            self.when_used.pop()()
        index = device if isinstance(device, int) else torch.device(device).index
        if index is None:
            return self.cuda.current
        if index >= len(self.devices):
            raise RuntimeError("CUDA error: invalid device ordinal")
        return index

    @staticmethod
    def check_generator(generator: Any) -> None:
        """Raise what torch raises for a generator of the host."""
        if generator not in {None, torch.default_generator} and generator.device.type != "cuda":
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")

    # what was seen

    def judge(self, scope: Scope, bound: dict[str, Any]) -> None:
        """Report a call of a public function if the table says that it blocks."""
        operation = scope.operation
        effect = operation.effect(bound) if operation is not None else None
        if operation is not None and effect is not None:
            scope.blocked = True
            self.report(operation.name, effect, scope.function, bound)

    def judge_call(self, name: str, bound: dict[str, Any]) -> None:
        """Report a call that no mode sees, unless it is a part of one that was judged."""
        operations = self.threads.operations
        inside = (
            operations is not None and operations.scope is not None and operations.scope.operation is not None
        )
        operation = None if inside else self.rules.operations.get(name)
        effect = operation.effect(operation.with_elements(bound)) if operation is not None else None
        if effect is not None:
            self.report(name, effect, name, bound)

    @contextmanager
    def judging(self, name: str, bound: dict[str, Any]) -> Iterator[None]:
        """Judge a call of Python code as a whole: what it does inside is a part of it."""
        self.judge_call(name, bound)
        operations = self.threads.operations
        if operations is None or operations.scope is not None:
            yield
            return
        operations.scope = Scope(name, self.rules.operations[name], (), {})
        try:
            yield
        finally:
            operations.scope = None

    @contextmanager
    def inside(self, function: Any, args: Any, kwargs: Any) -> Iterator[None]:
        """Run compiled code, of which no public function is seen: what it makes lies with its operands."""
        operations = self.threads.operations
        if operations is None or not self.running:
            yield
            return
        outer, operations.scope = operations.scope, Scope(function, None, args, kwargs)
        try:
            yield
        finally:
            operations.scope = outer

    def report(self, api: str, effect: str, function: Any, bound: dict[str, Any]) -> None:
        """Tell the listener about a call that would have blocked."""
        name = function if isinstance(function, str) else getattr(function, "__name__", str(function))
        sync = Sync(api, effect, name, describe(bound))
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


def _attribute(name: str) -> Any:
    """The object that a full name such as "torch.Tensor.item" stands for, or None."""
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found
