"""CUDA graphs: a capture runs the body and records its kernels; a replay runs these kernels, and none of the Python code.

The tensors of the body keep their memory. A replay computes with the current contents of its inputs, and
writes its results into the tensors of the capture.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from .errors import SimulationError
from .patches import run_again
from .recording import GraphRecording
from .tracebacks import without_our_frames

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_pools = itertools.count(1)


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace the graph API of ``torch.cuda``: torch's own classes over a simulated graph."""
    base = make_base(gpu)
    made = run_again(
        torch.cuda.graphs,
        {
            "_CUDAGraph": base,
            "_graph_pool_handle": lambda: (0, next(_pools)),
            "_cuda_isCurrentStreamCapturing": lambda: gpu.recording is not None,
        },
    )
    for name in ("CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing"):
        patches.replace_everywhere(torch.cuda, name, getattr(made, name))
    if hasattr(torch._C, "_acceleratorGraph"):  # torch 2.13
        again = run_again(torch.accelerator.graphs, {"_acceleratorGraph": base})
        patches.replace_everywhere(torch.accelerator, "Graph", again.Graph)


def make_base(gpu: Gpu) -> Any:
    """Return a replacement for the class in C++ under ``torch.cuda.CUDAGraph`` and ``torch.accelerator.Graph``."""

    class GraphBase:
        _recording: GraphRecording | None
        _pool: Any

        def __new__(cls, *args: Any, **options: Any) -> Any:
            made = super().__new__(cls)
            made._recording, made._pool = None, (0, next(_pools))
            return made

        def __init__(self, keep_graph: bool = False) -> None:
            """Do nothing: ``__new__`` initialises the object."""

        @without_our_frames
        def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
            if gpu.recording is not None:
                raise RuntimeError("CUDA graphs must be captured one after the other: a capture is under way")
            self._pool = pool or self._pool
            self._recording = GraphRecording()
            gpu.record(self._recording)

        def capture_end(self) -> None:
            gpu.record(None)

        @without_our_frames
        def replay(self) -> None:
            if self._recording is None or gpu.recording is not None:
                raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
            self._recording.replay()

        def reset(self) -> None:
            self._recording = None

        def pool(self) -> Any:
            return self._pool

        def instantiate(self) -> None:
            """Do nothing: a replay needs no preparation."""

        def enable_debug_mode(self) -> None:
            """Do nothing: the simulation keeps no debug information."""

        def debug_dump(self, debug_path: str) -> None:
            raise SimulationError("CUDAGraph.debug_dump cannot be simulated: it needs a real GPU")

        def raw_cuda_graph(self) -> int:
            raise SimulationError("CUDAGraph.raw_cuda_graph cannot be simulated: it needs a real GPU")

        raw_cuda_graph_exec = raw_cuda_graph

    return GraphBase
