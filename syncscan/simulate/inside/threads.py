"""The simulated threads: those inside a simulation block, and those started while the simulation runs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch.overrides import _get_current_function_mode_stack

from .modes import Kernels, Operations

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

# Not `with mode`, which records the entry in torch attributes that all threads share.
_FUNCTIONS = (
    torch._C._len_torch_function_stack,
    torch._C._pop_torch_function_stack,
    torch._C._push_on_torch_function_stack,
)
_DISPATCH = (
    torch._C._len_torch_dispatch_stack,
    lambda: torch._C._pop_torch_dispatch_stack(None),
    torch._C._push_on_torch_dispatch_stack,
)


class ThreadModes:
    """The two modes on the mode stacks of one thread, with a reference count."""

    def __init__(self, gpu: Gpu) -> None:
        self.operations = Operations(gpu)
        self.kernels = Kernels(gpu, self.operations)
        self.keepers = 0
        _take_out_inactive()  # modes that another thread deactivated
        torch._C._push_on_torch_function_stack(self.operations)
        torch._C._push_on_torch_dispatch_stack(self.kernels)


def _take_out_inactive() -> None:
    """Remove inactive modes from the stacks of this thread, including those below later modes."""
    for size, pop, push in (_FUNCTIONS, _DISPATCH):
        stack = [pop() for _ in range(size())]
        for mode in reversed(stack):
            if not (isinstance(mode, (Operations, Kernels)) and not mode.active):
                push(mode)


class Threads:
    """The threads of one simulation."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: weakref.WeakSet[ThreadModes] = weakref.WeakSet()

    @property
    def operations(self) -> Operations | None:
        """The function mode of this thread; None if the thread is not simulated."""
        modes: ThreadModes | None = getattr(self._local, "modes", None)
        return modes.operations if modes is not None and modes.operations.active else None

    @contextmanager
    def seeing_functions(self) -> Iterator[None]:
        """Intercept the public functions of this thread again, for code of the program that runs inside such a function."""
        operations = self.operations
        stack: list[object] = _get_current_function_mode_stack()  # type: ignore[no-untyped-call]
        if operations is None or operations in stack:
            yield
        else:
            with operations.outside_any_function():
                yield

    def enter(self) -> ThreadModes:
        """Install the modes in this thread unless they are installed; each call needs one `leave`."""
        modes: ThreadModes | None = getattr(self._local, "modes", None)
        if modes is None:
            modes = self._local.modes = ThreadModes(self._gpu)
            self._all.add(modes)
        with self._lock:
            modes.keepers += 1
            modes.operations.active = self._gpu.running
        return modes

    def leave(self, modes: ThreadModes) -> None:
        """Undo one `enter`. A call from another thread deactivates the modes, and leaves them on the stacks."""
        with self._lock:
            modes.keepers -= 1
            if modes.keepers:
                return
            modes.operations.active = False
        if modes is getattr(self._local, "modes", None):
            del self._local.modes
            _take_out_inactive()

    def end(self) -> None:
        """Deactivate the modes of all threads."""
        for modes in list(self._all):
            modes.operations.active = False

    def cover_new_ones(self, patches: Patches) -> None:
        """Install the modes in each thread that starts from now on, for its lifetime."""
        bootstrap = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def covered(thread: threading.Thread) -> None:
            modes = self.enter()
            try:
                bootstrap(thread)
            finally:
                self.leave(modes)

        patches.replace(threading.Thread, "_bootstrap_inner", covered)
