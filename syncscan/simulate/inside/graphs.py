"""CUDA graphs: a capture runs the body and records its kernels; a replay runs these kernels, and none of the Python code.

The tensors of the body keep their memory. A replay computes with the current contents of its inputs, and
writes its results into the tensors of the capture.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from .errors import CudaError, SimulationError
from .patches import run_again
from .recording import GraphRecording
from .tracebacks import without_our_frames

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_pools = itertools.count(1)
_MODES = frozenset({"global", "thread_local", "relaxed", "default"})  # the last of `torch.accelerator`


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


class _Graph:
    """The part of a graph that needs no simulated GPU."""

    _recording: GraphRecording | None
    _pool: Any

    def __new__(cls, *args: Any, **options: Any) -> Any:
        made = super().__new__(cls)
        made._recording, made._pool = None, (0, next(_pools))
        return made

    @without_our_frames
    def __init__(self, keep_graph: bool = False) -> None:
        """Check the argument as torch does; ``__new__`` initialises the object."""
        if keep_graph is not None and not hasattr(keep_graph, "__bool__"):
            raise TypeError(
                "__init__(): incompatible constructor arguments. The following argument types are supported:\n"
                f"    1. torch._C._CUDAGraph(keep_graph: bool = False)\n\nInvoked with: {keep_graph!r}"
            )

    def reset(self) -> None:
        self._recording = None

    @without_our_frames
    def pool(self) -> Any:
        if self._recording is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._pool

    @without_our_frames
    def instantiate(self) -> None:
        """Check that there was a capture; a replay needs no preparation."""
        if self._recording is None:
            raise RuntimeError("capture_end() must have been called before calling instantiate")

    def enable_debug_mode(self) -> None:
        """Do nothing: the simulation keeps no debug information."""

    def debug_dump(self, debug_path: str) -> None:
        raise SimulationError("CUDAGraph.debug_dump cannot be simulated: it needs a real GPU")

    def raw_cuda_graph(self) -> int:
        raise SimulationError("CUDAGraph.raw_cuda_graph cannot be simulated: it needs a real GPU")

    raw_cuda_graph_exec = raw_cuda_graph


def make_base(gpu: Gpu) -> Any:
    """Return a replacement for the class in C++ under ``torch.cuda.CUDAGraph`` and ``torch.accelerator.Graph``."""

    class GraphBase(_Graph):
        @without_our_frames
        def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
            if capture_error_mode not in _MODES:
                raise RuntimeError(
                    "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, "
                    f"got {capture_error_mode}"
                )
            if gpu.recording is not None:
                raise RuntimeError("CUDA graphs must be captured one after the other: a capture is under way")
            self._pool = pool or self._pool
            self._recording = GraphRecording()
            gpu.record(self._recording)

        @without_our_frames
        def capture_end(self) -> None:
            if gpu.recording is None:
                raise CudaError("CUDA error: the operation cannot be performed in the present state")
            gpu.record(None)

        @without_our_frames
        def replay(self) -> None:
            if self._recording is None or gpu.recording is not None:
                raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
            self._recording.replay()

    GraphBase.__module__, GraphBase.__name__, GraphBase.__qualname__ = "torch._C", "_CUDAGraph", "_CUDAGraph"
    return GraphBase
