"""CUDA graphs: a capture runs the body, a replay its kernels alone, and neither may wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from syncscan.simulate.context import simulated_cuda


@pytest.fixture(autouse=True)
def waits() -> Iterator[list[Any]]:
    with simulated_cuda() as seen:
        yield seen


def _captured(body: Any) -> tuple[Any, Any]:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = body()
    return graph, made


def test_a_replay_computes_with_what_the_inputs_then_hold_and_runs_no_python(waits: list[Any]) -> None:
    x, total = torch.ones(4, device="cuda"), torch.zeros(4, device="cuda")
    ran: list[bool] = []

    def body() -> torch.Tensor:
        ran.append(torch.cuda.is_current_stream_capturing())
        view = (x * 2)[1:]
        total.add_(1)
        return torch.cat([view, view.new_zeros(1)]).softmax(0) + torch.arange(4, device="cuda")

    graph, made = _captured(body)
    waits.clear()
    before = made.data_ptr()
    for value in (3.0, 5.0):
        x.copy_(torch.arange(4.0, device="cuda") * value)
        graph.replay()
    assert not waits
    expected = torch.tensor([10.0, 20.0, 30.0, 0.0]).softmax(0) + torch.arange(4)
    assert torch.allclose(made.cpu(), expected)
    assert (made.data_ptr(), total.tolist(), ran) == (before, [3] * 4, [True])
    assert not torch.cuda.is_current_stream_capturing()


def test_a_wait_in_a_capture_is_an_error_and_ends_it(waits: list[Any]) -> None:
    x = torch.ones(4, device="cuda")
    event = torch.cuda.current_stream().record_event()
    for wait in (x.sum().item, torch.cuda.synchronize, event.synchronize, x.nonzero):
        waits.clear()
        with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
            _captured(wait)
        assert [found.api for found in waits] == [
            "torch.cuda.synchronize"
        ]  # of `torch.cuda.graph` itself, before
        assert not torch.cuda.is_current_stream_capturing()
    assert x.sum().item() == 4


def test_operations_of_the_program_are_replayed_as_the_kernels_that_they_run() -> None:
    library = torch.library.Library("syncscan_graphs", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    ran: list[int] = []

    def twice(x: torch.Tensor) -> torch.Tensor:
        ran.append(1)
        return x + x

    library.impl("twice", twice, "CUDA")
    x = torch.ones(2, device="cuda")
    graph, made = _captured(lambda: torch.ops.syncscan_graphs.twice(x) + 1)
    x.fill_(4)
    graph.replay()
    assert (made.tolist(), ran) == ([9, 9], [1])


def test_numbers_are_drawn_anew_and_new_memory_is_cleared_anew() -> None:
    graph, (drawn, zeros) = _captured(
        lambda: (torch.rand(1000, device="cuda"), torch.zeros(3, device="cuda"))
    )
    before = drawn.clone()
    zeros += 1
    graph.replay()
    assert not torch.equal(before, drawn)
    assert zeros.tolist() == [0, 0, 0]


def test_what_the_host_computes_is_no_part_of_a_graph() -> None:
    host, x = torch.zeros(1), torch.ones(1, device="cuda")

    def body() -> torch.Tensor:
        host.add_(1)
        return x + 1

    graph, _ = _captured(body)
    graph.replay()
    assert host.tolist() == [1]


def test_pools_streams_and_misuse() -> None:
    pool, stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    with torch.cuda.graph(graph, pool=pool, stream=stream, check_input_liveness=True):
        assert torch.cuda.current_stream() == stream
        assert stream.is_capturing()
        with pytest.raises(RuntimeError, match="one after the other"):
            torch.cuda.CUDAGraph().capture_begin()
    assert graph.pool() == pool != torch.cuda.graph_pool_handle()
    graph.reset()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()


@pytest.mark.skipif(not hasattr(torch.accelerator, "Graph"), reason="torch 2.13 has it")
def test_a_graph_of_the_accelerator_is_one_of_cuda(waits: list[Any]) -> None:
    x = torch.ones(2, device="cuda")
    graph = torch.accelerator.Graph(pool=torch.cuda.graph_pool_handle())
    with torch.Stream(), graph:
        y = x + 1
    waits.clear()
    x.fill_(3.0)
    graph.replay()
    assert not waits
    assert y.tolist() == [4.0, 4.0]


def test_graphed_callables_give_the_results_and_gradients_of_the_plain_ones() -> None:
    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).cuda()
    sample = torch.randn(3, 4, device="cuda", requires_grad=True)
    x = torch.randn(3, 4, device="cuda", requires_grad=True)
    expected = plain(x)
    (gradient,) = torch.autograd.grad(expected.sum(), x)
    graphed: Any = torch.cuda.make_graphed_callables(plain, (sample,))
    made = graphed(x)
    assert torch.allclose(made, expected)
    made.sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, gradient)
