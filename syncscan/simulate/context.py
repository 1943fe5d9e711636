"""The entry point `simulated_cuda`: a simulation for one block of a program that has syncscan installed."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from syncscan.ops import OperationTable, load_table
from syncscan.simulate.export import TRACED_PACKAGE, plain_table
from syncscan.simulate.inside.imports import PatchFinder
from syncscan.simulate.spawned import cover_spawned

if TYPE_CHECKING:
    from syncscan.simulate.inside.conditions import PlainTable
    from syncscan.simulate.inside.simulation import Simulation, Sync


Kernels = Literal["auto", "zeros", "interpret"]
_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep


@dataclass(frozen=True, slots=True)
class SimulatedSync:
    """One call that would have blocked the CPU, and the line of the program that made the call.

    ``breaks_graph`` says that ``torch.compile`` would break its graph at the call. ``uncomputed`` says that
    the call reads the result of a kernel without a CPU implementation.
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
    """Run CUDA code on the CPU, and record the calls that would have blocked the CPU on a real GPU.

    Yields the list of these calls, in order; the list grows during the block. ``on_sync`` also receives each
    of them, in the thread and on the stack of the call.

    A block that begins while another block is open, in any thread or task, joins the running simulation with
    its devices. The simulation ends with the last open block. A synchronization belongs to the open blocks of
    its thread or task, or to all open blocks where the thread or task has none.

    ``operations`` are entries for the program's own operations, in the form of
    ``[tool.syncscan.operations]``. ``kernels`` selects among the kernels that exist for the GPU alone:

    - "auto" runs those whose results decide the control flow of the program,
    - "zeros" runs none,
    - "interpret" runs all that Triton's interpreter supports.

    Raises SimulationError where the program requests a feature that only a real GPU has. Raises ValueError
    for fewer than one device or an invalid entry.
    """
    if devices < 1:
        raise ValueError(f"devices must be 1 or more, not {devices}")
    block = _Block(on_sync)
    table = load_table().with_own(operations or {})
    with _joined(devices, table, kernels) as simulation, _listening(simulation, block):
        yield block.seen


class _Block:
    """The synchronizations that one ``with`` block has recorded."""

    def __init__(self, on_sync: Callable[[Sync], None] | None) -> None:
        self.seen: list[SimulatedSync] = []
        self.is_open = True
        self._on_sync = on_sync

    def notice(self, sync: Sync) -> None:
        """Record a synchronization, unless its thread or task is only in other open blocks."""
        inside = _blocks.get()
        if self in inside or not any(block.is_open for block in inside):
            self.seen.append(SimulatedSync(*sync, *_calling_line()))
            if self._on_sync is not None:
                self._on_sync(sync)


_blocks: ContextVar[tuple[_Block, ...]] = ContextVar("syncscan_blocks", default=())


@contextmanager
def _joined(devices: int, table: OperationTable, kernels: Kernels) -> Iterator[Simulation]:
    """Yield the simulation of this process, or begin one; the simulation ends with the last block."""
    from syncscan.simulate.inside.simulation import lock  # noqa: PLC0415 (imports torch)

    with lock:
        simulation = _running() or _new_simulation(plain_table(table), devices, kernels)
        modes = simulation.join()
    try:
        yield simulation
    finally:
        simulation.part(modes)


def _running() -> Simulation | None:
    """Return the running simulation of this process, that of this package or of a trace's own copy of the package."""
    modules = (
        sys.modules.get(f"{package}.simulation") for package in (f"{__package__}.inside", TRACED_PACKAGE)
    )
    return next(
        (found for found in (getattr(m, "current", None) for m in modules) if found is not None), None
    )


def _new_simulation(table: PlainTable, devices: int, kernels: str) -> Simulation:
    from syncscan.simulate.inside.simulation import Simulation  # noqa: PLC0415 (imports torch)
    from syncscan.simulate.inside.tracebacks import hide_files  # noqa: PLC0415 (imports torch)

    hide_files(__file__)
    simulation = Simulation(table, devices, kernels)
    simulation.listeners.append(_tell_guards)
    simulation.additions.append(partial(cover_spawned, (table, devices, kernels)))
    return simulation


def begin(table: PlainTable, devices: int, kernels: str) -> None:
    """Simulate this process from the import of torch to the end."""
    PatchFinder().when_imported("torch", lambda _: _new_simulation(table, devices, kernels).start())


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
    """Return the file, line and function of the innermost frame outside torch and the standard library."""
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
