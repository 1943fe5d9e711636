"""The detector of a machine without a GPU: tells which calls would have waited, and simulates the GPU."""

import json
import os
import sys

PACKAGE = "_syncscan_simulate"  # apart from any syncscan of the program's own
_WAITS = {"Event": "cudaEventSynchronize", "Stream": "cudaStreamSynchronize"}


class Simulated:
    """Reports what the simulation sees as a wait without duration."""

    name = "simulated"

    def __init__(self, recorder, flush):
        self._recorder = recorder
        self._flush = flush  # called after each wait
        self._calling_frame = None

    def arm(self, folder, table, when_used):
        """Start the simulation that lies in ``folder``, judging by the operation table in file ``table``.

        ``when_used()`` is called as soon as the program uses its GPU.
        """
        simulation = _load(folder)
        with open(table, encoding="utf-8") as file:
            started = simulation.Simulation(json.load(file))
        self._calling_frame = simulation.calling_frame
        started.listeners.append(self._on_sync)
        started.when_used.append(when_used)
        started.start()

    def disarm(self):
        """Leave it running: what the program does at exit still needs its GPU."""

    def _on_sync(self, sync):
        self._recorder.record(_cuda_call(sync), 0, self._calling_frame(), self.name)
        self._flush()


def _load(folder):
    """Import the package of the simulation under a name of its own."""
    from importlib import import_module, util

    if PACKAGE not in sys.modules:
        init = os.path.join(folder, "__init__.py")
        spec = util.spec_from_file_location(PACKAGE, init, submodule_search_locations=[folder])
        sys.modules[PACKAGE] = util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[PACKAGE])
    return import_module(PACKAGE + ".simulation")


def _cuda_call(sync):
    """The CUDA call in which a GPU would have waited, and the way of the copy that came with it."""
    if sync.effect == "explicit wait":
        owner = sync.api.split(".")[-2]
        return _WAITS.get(owner, "cudaDeviceSynchronize")
    return "cudaStreamSynchronize:in" if sync.effect == "upload" else "cudaStreamSynchronize:out"
