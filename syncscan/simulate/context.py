"""`simulated_cuda`: the simulation for a block of a program that has syncscan installed."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from syncscan.ops import OperationTable, load_table
from syncscan.simulate.export import TRACED_PACKAGE, plain_table

if TYPE_CHECKING:
    from syncscan.simulate.inside.simulation import Simulation, Sync


Kernels = Literal["auto", "zeros", "interpret"]
_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep


@dataclass(frozen=True, slots=True)
class SimulatedSync:
    """One call that would have blocked the host, and the line of the program that made it.

    ``breaks_graph`` says that ``torch.compile`` would end its graph there, ``uncomputed`` that what is read comes from
    a kernel for the GPU alone.
    """

    api: str
    effect: str
    name: str
    operands: dict[str, str]
    breaks_graph: bool
    uncomputed: bool
    path: str
    line: int
    function: str


@contextmanager
def simulated_cuda(
    on_sync: Callable[[Sync], None] | None = None,
    *,
    devices: int = 1,
    operations: Mapping[str, Any] | None = None,
    kernels: Kernels = "auto",
) -> Iterator[list[SimulatedSync]]:
    """Let CUDA code run on the CPU, and see what would have made the host wait for the GPU.

    Yields the list of the calls that would have blocked, in order; it grows as they are made. ``on_sync``
    is called with each of them too, in the thread and on the stack of the call. A block that begins while
    another one is open, in whatever thread or task, joins its simulation, devices and all; the simulation
    ends with the last of them. Waits belong to the blocks that their thread or task is in, and to all
    where it is in none. ``operations`` are entries for operations of the program, as
    ``[tool.syncscan.operations]`` has them. Of the kernels for the GPU alone, ``kernels`` says which are run: "auto" those
    by which the program decides, "zeros" none, "interpret" all that Triton's interpreter can run. Raises SimulationError where the program asks for what only a real GPU can do, and
    ValueError for fewer than one device, or an entry that is wrong.
    """
    if devices < 1:
        raise ValueError(f"devices must be 1 or more, not {devices}")
    block = _Block(on_sync)
    table = load_table().with_own(operations or {})
    with _joined(devices, table, kernels) as simulation, _listening(simulation, block):
        yield block.seen


class _Block:
    """What one block has seen."""

    def __init__(self, on_sync: Callable[[Sync], None] | None) -> None:
        self.seen: list[SimulatedSync] = []
        self.is_open = True
        self._on_sync = on_sync

    def notice(self, sync: Sync) -> None:
        """Keep a wait, unless its thread or task is in other blocks and not in this one."""
        inside = _blocks.get()
        if self in inside or not any(block.is_open for block in inside):
            self.seen.append(SimulatedSync(*sync, *_calling_line()))
            if self._on_sync is not None:
                self._on_sync(sync)


_blocks: ContextVar[tuple[_Block, ...]] = ContextVar("syncscan_blocks", default=())


@contextmanager
def _joined(devices: int, table: OperationTable, kernels: Kernels) -> Iterator[Simulation]:
    """The simulation that runs in this process, or one that begins here; it ends with the last block."""
    from syncscan.simulate.inside.simulation import lock  # noqa: PLC0415 (imports torch)

    with lock:
        simulation = _running() or _new_simulation(devices, table, kernels)
        modes = simulation.join()
    try:
        yield simulation
    finally:
        simulation.part(modes)


def _running() -> Simulation | None:
    """The simulation that runs in this process: of this package, or of a trace that loaded it apart."""
    modules = (
        sys.modules.get(f"{package}.simulation") for package in (f"{__package__}.inside", TRACED_PACKAGE)
    )
    return next(
        (found for found in (getattr(m, "current", None) for m in modules) if found is not None), None
    )


def _new_simulation(devices: int, table: OperationTable, kernels: Kernels) -> Simulation:
    from syncscan.simulate.inside.simulation import Simulation  # noqa: PLC0415 (imports torch)

    simulation = Simulation(plain_table(table), devices, kernels)
    simulation.listeners.append(_tell_guards)
    return simulation


def _tell_guards(sync: Sync) -> None:
    guard = sys.modules.get("syncscan.guard")
    if guard is not None:
        guard.notice(sync.api, _calling_frame())


@contextmanager
def _listening(simulation: Simulation, block: _Block) -> Iterator[None]:
    simulation.listeners.append(block.notice)
    _blocks.set((*_blocks.get(), block))
    try:
        yield
    finally:
        block.is_open = False
        simulation.listeners.remove(block.notice)
        _blocks.set(tuple(other for other in _blocks.get() if other is not block))


def _calling_line() -> tuple[str, int, str]:
    """File, line and function of the innermost frame that is the program's own, or a library's of it."""
    frame = _calling_frame()
    while frame.f_back is not None and _is_standard_library(frame.f_code.co_filename):
        frame = frame.f_back
    code = frame.f_code
    return code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)


def _calling_frame() -> FrameType:
    from syncscan.simulate.inside.simulation import calling_frame  # noqa: PLC0415

    return calling_frame() or sys._getframe()


def _is_standard_library(path: str) -> bool:
    return path.startswith(_STANDARD_LIBRARY) and "site-packages" not in path
