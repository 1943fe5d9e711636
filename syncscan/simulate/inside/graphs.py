"""CUDA graphs: a capture runs the body and records its kernels; a replay runs these kernels, and none of the Python code.

The tensors of the body keep their memory. A replay computes with the current contents of its inputs, and
writes its results into the tensors of the capture.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch

from .errors import SimulationError
from .recording import GraphRecording

if TYPE_CHECKING:
    from .gpu import Gpu
    from .patches import Patches

_pools = itertools.count(1)


def install(gpu: Gpu, patches: Patches) -> None:
    """Replace the graph API of ``torch.cuda``."""
    graph_class = make_graph_class(gpu)
    for name, value in {
        "CUDAGraph": graph_class,
        "graph": make_context_class(),
        "graph_pool_handle": lambda: (0, next(_pools)),
        "is_current_stream_capturing": lambda: gpu.recording is not None,
    }.items():
        patches.replace_everywhere(torch.cuda, name, value)
    if hasattr(torch, "accelerator"):  # torch 2.6, its graphs 2.13
        patches.replace_everywhere(torch.accelerator, "Graph", make_accelerator_class(graph_class))


def make_graph_class(gpu: Gpu) -> Any:
    """Return a replacement for ``torch.cuda.CUDAGraph``."""

    class CUDAGraph:
        def __init__(self, keep_graph: bool = False) -> None:
            self._recording: GraphRecording | None = None
            self._pool = (0, next(_pools))

        def capture_begin(
            self, pool: Any = None, capture_error_mode: str = "global", check_input_liveness: bool = False
        ) -> None:
            if gpu.recording is not None:
                raise RuntimeError("CUDA graphs must be captured one after the other: a capture is under way")
            self._pool = pool or self._pool
            self._recording = GraphRecording()
            gpu.record(self._recording)

        def capture_end(self) -> None:
            gpu.record(None)

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

    CUDAGraph.__qualname__, CUDAGraph.__module__ = "CUDAGraph", "torch.cuda.graphs"
    return CUDAGraph


def make_accelerator_class(graph_class: Any) -> Any:
    """Return a replacement for ``torch.accelerator.Graph``, which is its own context of a capture."""

    class Graph(graph_class):  # type: ignore[misc]  # a base known only at run time
        def __init__(
            self, keep_graph: bool = False, *, pool: Any = None, capture_error_mode: str = "default"
        ) -> None:
            super().__init__(keep_graph)
            self.graph_pool, self.capture_error_mode = pool, capture_error_mode

        def capture_begin(self) -> None:
            super().capture_begin(self.graph_pool)

        def __enter__(self) -> None:
            torch.accelerator.synchronize()  # syncscan: ignore[SYN401] what torch does before a capture
            self.capture_begin()

        def __exit__(self, *raised: Any) -> None:
            self.capture_end()

    Graph.__qualname__, Graph.__module__ = "Graph", "torch.accelerator.graphs"
    return Graph


def make_context_class() -> Any:
    """Return a replacement for ``torch.cuda.graph``."""

    class graph:  # noqa: N801 (torch's name)
        def __init__(
            self,
            cuda_graph: Any,
            pool: Any = None,
            stream: Any = None,
            capture_error_mode: str = "global",
            enable_annotations: bool = False,
            check_input_liveness: bool = False,
        ) -> None:
            self.cuda_graph, self.pool, self.capture_stream = cuda_graph, pool, stream
            self.stream_ctx: Any = None

        def __enter__(self) -> None:
            torch.cuda.synchronize()  # syncscan: ignore[SYN401] what torch does before a capture
            new_stream: Any = torch.cuda.Stream
            self.stream_ctx = torch.cuda.stream(self.capture_stream or new_stream())
            self.stream_ctx.__enter__()
            self.cuda_graph.capture_begin(self.pool)

        def __exit__(self, *raised: Any) -> None:
            self.cuda_graph.capture_end()
            self.stream_ctx.__exit__(*raised)

    graph.__qualname__, graph.__module__ = "graph", "torch.cuda.graphs"
    return graph
