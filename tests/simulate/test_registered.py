"""Operations that are Python functions, registered for CUDA: their bodies run, and are seen."""

from __future__ import annotations

import pytest
import torch

from syncscan.simulate.context import simulated_cuda

_BEFORE, _WHILE = (
    torch.library.Library(f"syncscan_registered_{when}", "DEF") for when in ("before", "while")
)


def _count(x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    made = torch.zeros(x.shape[0], device=total.device)
    made += x.sum().item()
    total.add_(made)
    return made


def _define(library: torch.library.Library) -> None:
    library.define("count(Tensor x, Tensor(a!) total) -> Tensor")
    library.impl("count", _count, "CUDA")


_define(_BEFORE)


@pytest.mark.parametrize("library", [_BEFORE, _WHILE], ids=["before", "while"])
def test_its_body_runs_and_its_wait_has_its_line(library: torch.library.Library) -> None:
    with simulated_cuda() as waits:
        if library is _WHILE:
            _define(library)
        x, total = torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
        made = getattr(torch.ops, library.ns).count(x, total)
        assert made.is_cuda
        assert [(wait.api, wait.function) for wait in waits] == [("torch.Tensor.item", "_count")]
        assert (made.tolist(), total.tolist()) == ([3, 3, 3], [4, 4, 4])


def test_host_memory_that_a_gpu_reads_in_place_has_two_names() -> None:
    library = torch.library.Library("syncscan_registered_view", "DEF")
    library.define("mapped(Tensor x) -> Tensor")
    with simulated_cuda(
        operations={"torch.ops.syncscan_registered_view.mapped": {"result": "mapped"}}
    ) as waits:
        host = torch.arange(6.0).reshape(2, 3).pin_memory()
        mapped = torch.ops.syncscan_registered_view.mapped(host.T)
        assert (mapped.device.type, host.is_pinned(), mapped.shape) == ("cuda", True, (3, 2))
        host[0, 0] = 9
        mapped[2, 1] = 8  # a number is written without a wait where no tensor is the index
        waits.clear()
        assert host.tolist() == [[9, 1, 2], [3, 4, 8]]
        assert not waits
        del host
        assert mapped.tolist() == [[9, 3], [1, 4], [2, 8]]
        assert len(waits) == 1


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)], ids=str)
def test_host_memory_without_elements_that_a_gpu_reads_in_place_has_its_shape(shape: tuple[int, ...]) -> None:
    name = "syncscan_registered_none_" + "_".join(map(str, shape))
    library = torch.library.Library(name, "DEF")
    library.define("mapped(Tensor x) -> Tensor")
    with simulated_cuda(operations={f"torch.ops.{name}.mapped": {"result": "mapped"}}) as waits:
        mapped = getattr(torch.ops, name).mapped(torch.empty(shape, dtype=torch.int16).pin_memory())
        assert (mapped.shape, mapped.dtype, mapped.is_cuda) == (shape, torch.int16, True)
        assert not waits


@pytest.mark.parametrize("order", [("CUDA", "CPU"), ("CPU", "CUDA")], ids="-".join)
def test_of_several_bodies_the_one_for_cuda_runs(order: tuple[str, ...]) -> None:
    library = torch.library.Library(f"syncscan_registered_{'_'.join(order)}", "DEF")
    library.define("grown(Tensor x) -> Tensor")
    bodies = {"CUDA": lambda x: x + x.sum().item(), "CPU": lambda x: x - 1}
    with simulated_cuda() as waits:
        for key in order:
            library.impl("grown", bodies[key], key)
        grown = getattr(torch.ops, library.ns).grown
        made = grown(torch.ones(2, device="cuda"))
        assert [wait.api for wait in waits] == ["torch.Tensor.item"]
        assert (made.is_cuda, made.tolist()) == (True, [3, 3])


def test_of_two_bodies_the_one_for_the_place_of_the_operands_runs() -> None:
    @torch.library.custom_op("syncscan_two_bodies::add", mutates_args=(), device_types="cpu")
    def add(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    @add.register_kernel("cuda")
    def _(x: torch.Tensor) -> torch.Tensor:
        assert x.is_cuda
        return x + 2

    with simulated_cuda():
        assert (add(torch.zeros(1)).item(), add(torch.zeros(1, device="cuda")).item()) == (1, 2)
