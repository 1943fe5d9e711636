"""A running simulation: the replaced parts of torch, and the modes of each thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch

from . import (
    capture,
    compiled,
    constructors,
    distributed,
    graphs,
    interpreter,
    jit_kernels,
    launches,
    machine,
    registered,
    warnings_of_torch,
)
from .conditions import PlainTable
from .cuda import SimulatedCuda
from .functions import FunctionPlan
from .gpu import Gpu, Sync, calling_frame
from .gradients import remember_place
from .kinds import tensors_in
from .patches import Patches
from .threads import ThreadModes, Threads
from .transfers import Transfers

if TYPE_CHECKING:
    from collections.abc import Callable

    from .modes import Operations

__all__ = ["Simulation", "Sync", "calling_frame", "current", "lock"]

# The running simulation: at most one, because torch has one set of attributes to replace.
current: Simulation | None = None
lock = threading.RLock()  # held while a simulation begins or ends


class Simulation(Gpu):
    """The simulated GPU of the whole process."""

    def __init__(self, table: PlainTable, devices: int = 1, kernels: str = "auto") -> None:
        super().__init__(table, devices, kernels)
        self.cuda = SimulatedCuda(self)
        self.threads = Threads(self)
        self.additions: list[
            Callable[[Patches], None]
        ] = []  # each replaces more, for as long as torch is replaced
        self._patches = Patches()
        self._joined = 0
        self._main: Any = None

    @property
    def operations(self) -> Operations | None:
        """The function mode of this thread; None if the thread is not simulated."""
        return self.threads.operations

    # starting and stopping

    def start(self) -> None:
        """Start the simulation, and simulate the calling thread, until `stop`."""
        self._main = self.join()

    def stop(self) -> None:
        """Undo `start`."""
        self.part(self._main)

    def join(self) -> ThreadModes:
        """Simulate the calling thread; the simulation runs until each `join` has its `part`."""
        global current
        with lock:
            if not self.running:
                self._install()
                self.running, current = True, self
            self._joined += 1
            return self.threads.enter()

    def part(self, modes: ThreadModes) -> None:
        """Undo one `join`, from any thread; the last call restores torch."""
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
            graphs.install(self, self._patches)
            machine.install(self, self._patches)
            launches.install(self, self._patches)
            interpreter.install(self, self._patches)
            jit_kernels.install(self, self._patches)
            registered.install(self._patches)
            constructors.install(self, self._patches)
            capture.install(self, self._patches)
            compiled.install(lambda: self.running, self._patches)
            distributed.install(self, self._patches)
            warnings_of_torch.install(self._patches)
            self.threads.cover_new_ones(self._patches)
            self._cover_backward()
            self._cover_pack_hooks()
            self._cover_functions()
            for add in self.additions:
                add(self._patches)
        except BaseException:
            self._patches.restore()
            raise

    def _cover_backward(self) -> None:
        """Intercept Python code in backward too, where torch hides the modes."""
        run = torch.autograd.graph._engine_run_backward

        def covered(*args: Any, **kwargs: Any) -> Any:
            with self.threads.seeing_functions():
                return run(*args, **kwargs)

        self._patches.replace_everywhere(torch.autograd, "_engine_run_backward", covered)

    def _cover_pack_hooks(self) -> None:
        """Intercept the program's hooks on tensors saved for backward, inside any function that saves them."""
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
        operations = self.operations
        if operations is not None:
            operations.pack_hooks += change

    def _cover_functions(self) -> None:
        """Record the device of each result of a custom autograd function, which may transfer its operands."""
        apply = torch.autograd.Function.apply.__func__  # type: ignore[attr-defined]

        def covered(cls: Any, *args: Any, **kwargs: Any) -> Any:
            result = apply(cls, *args, **kwargs)
            for tensor in tensors_in(result):
                remember_place(tensor)
            return result

        self._patches.replace(torch.autograd.Function, "apply", classmethod(covered))

    def _known_functions(self) -> dict[Any, FunctionPlan | None]:
        functions: dict[Any, FunctionPlan | None] = {}
        for function, operation in self.table.resolved(_attribute):
            functions[function] = None if operation.is_query else FunctionPlan(function, operation)
        functions[torch.device] = FunctionPlan(torch.device, None)  # a plain index needs its type
        # The replacements of these judge their calls themselves, or do not use the device.
        functions.update(
            (getattr(torch.Tensor, name), None) for name in (*Transfers.METHODS, "untyped_storage")
        )
        return functions


def _attribute(name: str) -> Any:
    """Return the torch object with a full name such as "torch.Tensor.item", or None."""
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found
