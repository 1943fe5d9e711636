"""The detector of a machine without a GPU: simulates the GPU, and reports calls that would have blocked."""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

    from .interfaces import Sink

PACKAGE = "_syncscan_simulate"  # apart from any syncscan of the program's own
_WAITS = {"Event": "cudaEventSynchronize", "Stream": "cudaStreamSynchronize"}


class Simulated:
    """Reports events of the simulation, without duration."""

    name = "simulated"

    def __init__(
        self,
        recorder: Sink,
        folder: str,
        table: str,
        kernels: str,
        *,
        when_used: Callable[[], None],
        flush: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._folder = folder  # where the simulation lies
        self._table = table  # the file of the operation table by which it judges
        self._kernels = kernels  # which of those for the GPU alone are run
        self._when_used = when_used  # called as soon as the program uses its GPU
        self._flush = flush  # called after each synchronization
        self._calling_frame: Callable[[], FrameType]
        self._counted: dict[str, dict[str, int]] = {}  # of kernels that were not computed, by what is counted
        self._told: dict[str, dict[str, int]] = {}

    def arm(self) -> str | None:
        """Start the simulation."""
        simulation = _load(self._folder)
        with open(self._table, encoding="utf-8") as file:
            started = simulation.Simulation(json.load(file), _devices(), self._kernels)
        self._calling_frame = simulation.calling_frame
        self._counted = {"uncomputed": started.uncomputed.counts, "decided": started.uncomputed.decided}
        started.listeners.append(self._on_sync)
        sys.modules[PACKAGE + ".tracebacks"].hide_files(os.path.join(os.path.dirname(__file__), ""))
        started.when_used.append(self._when_used)
        started.start()
        return None

    def before_flush(self) -> None:
        """Do nothing."""

    def disarm(self) -> None:
        """Leave it running: what the program does at exit still needs its GPU."""

    def changed(self, *, whole: bool) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield what was not computed, and what of that the CPU read, where that has become more."""
        for name, counted in self._counted.items():
            counts = dict(counted)
            if counts and (whole or counts != self._told.get(name)):
                self._told[name] = counts
                yield name, counts

    def reset(self) -> None:
        """Begin to count anew, in a forked child."""
        for counted in self._counted.values():
            counted.clear()
        self._told = {}

    def _on_sync(self, sync: Any) -> None:
        if not self._recorder.recording:
            return
        self._recorder.record(_cuda_call(sync), 0, self._calling_frame(), self.name)
        self._flush()


def _load(folder: str) -> Any:
    """Import the package of the simulation under a name of its own."""
    from importlib import import_module, util

    if PACKAGE not in sys.modules:
        init = os.path.join(folder, "__init__.py")
        spec = util.spec_from_file_location(PACKAGE, init, submodule_search_locations=[folder])
        if spec is None or spec.loader is None:
            raise ImportError(init)
        sys.modules[PACKAGE] = util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[PACKAGE])
    return import_module(PACKAGE + ".simulation")


def _devices() -> int:
    """Return the number of GPUs the process sees: those named by the program, or one per rank of a launcher."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    named = [name.strip() for name in visible]
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    return len([name for name in named if name]) or (int(ranks) if ranks.isdigit() else 0) or 1


def _cuda_call(sync: Any) -> str:
    """Return the CUDA call that would have blocked, the direction of its copy, and remarks."""
    if sync.effect == "explicit wait":
        owner = sync.api.split(".")[-2]
        return _WAITS.get(owner, "cudaDeviceSynchronize")
    way = "in" if sync.effect == "upload" else "out"
    remarks = ":graph" * sync.breaks_graph + ":uncomputed" * sync.uncomputed
    return f"cudaStreamSynchronize:{way}{remarks}"
