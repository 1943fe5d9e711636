"""What `torch.cuda` answers: figures, generators, events, and what copies between devices."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn.parallel import comm

from syncscan.simulate.context import simulated_cuda


@pytest.fixture(autouse=True)
def seen() -> Iterator[list[object]]:
    with simulated_cuda() as syncs:
        yield syncs


def test_its_figures_are_those_of_an_idle_h200() -> None:
    properties = torch.cuda.get_device_properties(0)
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability() == (9, 0)
    assert (properties.multi_processor_count, properties.warp_size) == (132, 32)
    assert torch.cuda.utilization() == torch.cuda.memory_allocated() == 0
    assert torch.cuda.Stream.priority_range() == torch.cuda.current_stream().priority_range() == (0, -5)


def _pickled(generator: torch.Generator) -> torch.Generator:
    twin: torch.Generator = pickle.loads(pickle.dumps(generator))
    return twin


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])
def test_a_copied_generator_goes_on_where_its_original_stands(
    copied: Callable[[torch.Generator], torch.Generator],
) -> None:
    generator = torch.Generator("cuda").manual_seed(7)
    torch.rand(3, device="cuda", generator=generator)
    twin = copied(generator)
    assert twin.device.type == generator.device.type == "cuda"
    numbers = [torch.rand(3, device="cuda", generator=one) for one in (generator, twin)]
    assert torch.equal(*numbers)


def test_events_tell_milliseconds_between_their_records() -> None:
    first, second = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before = time.perf_counter()
    first.record()
    begin = time.perf_counter()
    sum(range(100_000))
    end = time.perf_counter()
    second.record()
    after = time.perf_counter()
    assert (end - begin) * 1e3 <= first.elapsed_time(second) <= (after - before) * 1e3


@pytest.mark.parametrize(
    "arguments", [("cuda",), ("cuda", torch.bfloat16)], ids=["device", "device and dtype"]
)
def test_autocast_casts_what_lies_on_the_gpu_and_not_what_lies_on_the_host(
    arguments: tuple[object, ...],
) -> None:
    gpu, host = torch.ones(2, 2, device="cuda"), torch.ones(2, 2)
    with torch.autocast(*arguments):
        assert (gpu @ gpu).dtype == torch.get_autocast_dtype("cuda")
        assert torch.is_autocast_enabled("cuda")
    assert (gpu @ gpu).dtype == (host @ host).dtype == torch.float32


def test_what_copies_between_devices_gives_a_tensor_for_each() -> None:
    x = torch.arange(4.0, device="cuda")
    for (copied,) in (comm.broadcast(x, [0]), comm.scatter(x, [0])):
        assert (copied.device, copied.tolist()) == (torch.device("cuda", 0), [0, 1, 2, 3])
    gathered = comm.gather([x, x], destination=0)
    assert (gathered.device.type, gathered.shape) == ("cuda", (8,))
    assert comm.gather([x], destination="cpu").device.type == "cpu"


def test_a_subclass_of_the_program_sees_the_moves_of_its_tensors() -> None:
    moves = []

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            moves.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    own = torch.ones(2).as_subclass(Own)
    assert type(own.cuda()) is Own
    assert own.to("cuda").device.type == "cuda"
    assert {"cuda", "to"} <= set(moves)
    moves.clear()
    assert torch.ones(2).to("cuda").device.type == "cuda"
    assert not moves


def test_what_names_no_device_means_the_current_one() -> None:
    name: Any = "cuda".index  # of a program that has a text where it thinks that it has a device
    assert torch.cuda.get_device_properties(name).multi_processor_count == 132
    assert torch.cuda.current_stream(name).device == torch.device("cuda", 0)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.get_device_properties(7)
