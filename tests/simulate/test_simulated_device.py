"""The simulated device: what a program can see of it is what it would see of a GPU."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import threading
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from syncscan.simulate.context import simulated_cuda
from syncscan.simulate.inside.errors import SimulationError

CUDA0 = torch.device("cuda", 0)


@pytest.fixture(autouse=True)
def seen() -> Iterator[list[object]]:
    with simulated_cuda() as syncs:
        yield syncs


@pytest.fixture
def x() -> torch.Tensor:
    return torch.arange(16.0, device="cuda").reshape(4, 4)


def test_the_device_and_its_figures() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_properties(0).total_memory == torch.cuda.mem_get_info()[1]
    assert torch.cuda.get_device_capability() >= (8, 0)
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated() == 0
    with torch.cuda.device(0):
        torch.cuda.set_device(0)


@pytest.mark.skipif(not hasattr(torch, "accelerator"), reason="torch.accelerator came with torch 2.6")
def test_it_is_the_accelerator() -> None:
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(3, device="cuda"),
        lambda: torch.zeros(3, device="cuda:0"),
        lambda: torch.zeros(3, device=0),
        lambda: torch.tensor([1, 2], device="cuda"),
        lambda: torch.as_tensor([1, 2], device="cuda"),
        lambda: torch.as_tensor(np.ones(3), device="cuda"),
        lambda: torch.randperm(3, device="cuda"),
        lambda: torch.zeros(3).cuda(),
        lambda: torch.zeros(3).to("cuda"),
        lambda: torch.zeros(3).to(device="cuda", dtype=torch.float16),
        lambda: torch.zeros(3).to(torch.zeros(1, device="cuda")),
        lambda: torch.zeros(3).type("torch.cuda.HalfTensor"),
        lambda: torch.zeros_like(torch.zeros(3), device="cuda"),
        lambda: torch.nn.Linear(2, 2).cuda().weight,
        lambda: torch.nn.Linear(2, 2, device="cuda").weight,
        lambda: torch.nn.Linear(2, 2).to("cuda", torch.float16).weight,
    ],
)
def test_ways_onto_the_device(make) -> None:
    tensor = make()
    assert (tensor.device, tensor.is_cuda, tensor.is_cpu, tensor.get_device()) == (CUDA0, True, False, 0)


@pytest.mark.parametrize(
    "follow",
    [
        lambda x: x + 1,
        lambda x: x[0],
        lambda x: x[torch.tensor([0])],
        lambda x: x.T.contiguous(),
        lambda x: torch.cat([x, x]),
        lambda x: torch.stack([x, x]).sum(0),
        lambda x: x.new_zeros(3),
        lambda x: x.new_tensor([1.0]),
        torch.empty_like,
        lambda x: torch.tensor(x[0]),
        lambda x: x.detach(),
        lambda x: x.to(torch.float16),
        lambda x: torch.nn.Parameter(x).data,
        lambda x: torch.add(x, x, out=torch.empty(4, 4, device="cuda")),
        lambda x: torch.nn.functional.one_hot(x.long(), 16),
        torch.vmap(lambda row: row * 2),
        torch.func.grad(lambda y: (y**2).sum()),
        lambda x: x.to_sparse(),
        lambda x: x.to_sparse().coalesce().values(),
        lambda x: x.to_sparse().to_dense(),
        lambda x: torch.nn.MultiheadAttention(4, 2).cuda()(x, x, x)[0],
        lambda x: torch.nn.LSTM(4, 4).cuda()(x)[0],
        copy.deepcopy,
        lambda x: pickle.loads(pickle.dumps(x)),
    ],
)
@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_what_is_made_of_it_stays_there(x: torch.Tensor, follow) -> None:
    assert follow(x).device == CUDA0


@pytest.mark.parametrize(
    "leave",
    [
        lambda x: x.cpu(),
        lambda x: x.to("cpu"),
        lambda x: x.to("cpu", torch.float16),
        lambda x: x.to(torch.zeros(1)),
        lambda x: torch.as_tensor(x, device="cpu"),
        lambda x: torch.empty_like(x, device="cpu"),
        lambda x: x.new_zeros(3, device="cpu"),
        lambda x: x.type("torch.FloatTensor"),
        lambda x: torch.zeros(3).cpu(),
    ],
)
def test_ways_off_the_device(x: torch.Tensor, leave) -> None:
    tensor = leave(x)
    assert (tensor.device.type, tensor.is_cuda, tensor.is_cpu, tensor.get_device()) == (
        "cpu",
        False,
        True,
        -1,
    )


def test_moving_within_a_device_gives_the_same_tensor(x: torch.Tensor) -> None:
    host = torch.zeros(3)
    assert x.to("cuda") is x.cuda() is x.to("cuda:0") is torch.as_tensor(x, device="cuda") is x
    assert x.cpu() is not x
    assert host.cpu() is host.to("cpu") is host


def test_a_copy_onto_the_device_shares_no_memory() -> None:
    array = np.zeros(3)
    torch.as_tensor(array, device="cuda").add_(1)
    torch.from_numpy(array).to("cuda").add_(1)
    assert array.tolist() == [0, 0, 0]


def test_views_share_memory(x: torch.Tensor) -> None:
    x[0].fill_(7)
    assert x[0].tolist() == [7] * 4
    host = torch.zeros(3)
    host.data = torch.ones(3, device="cuda")
    assert host.is_cuda


def test_default_device() -> None:
    with torch.device("cuda"):
        assert torch.zeros(3).is_cuda
        assert torch.tensor([1]).is_cuda
        assert torch.nn.Linear(2, 2).weight.is_cuda
    torch.set_default_device("cuda")
    try:
        assert torch.arange(3).is_cuda
        assert torch.empty(3).is_cuda  # which the simulation clears with this default
        assert torch.nn.Linear(2, 2).weight.is_cuda
    finally:
        torch.set_default_device(None)
    assert torch.zeros(3).is_cpu


def test_pinned_memory(seen: list[object]) -> None:
    pinned = torch.zeros(3).pin_memory()
    assert pinned.is_pinned()
    assert pinned[1:].is_pinned()
    assert pinned.pin_memory() is pinned
    assert torch.zeros(3, pin_memory=True).is_pinned()
    assert torch.tensor([1], pin_memory=True).is_pinned()
    assert torch.zeros(3, device="cuda").to("cpu", non_blocking=True).is_pinned()
    assert not torch.zeros(3).is_pinned()
    assert not (pinned + 1).is_pinned()
    assert not seen
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.zeros(3, device="cuda").pin_memory()


@pytest.mark.parametrize("workers", [0, 1])
def test_a_data_loader_pins(workers: int) -> None:
    loader = DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2, pin_memory=True, num_workers=workers)
    assert all(batch.is_pinned() for (batch,) in loader)


def test_training(x: torch.Tensor) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).cuda()
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        optimiser = kind(model.parameters(), lr=0.1)
        model(x).sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    assert all(p.is_cuda and p.grad is not None and p.grad.is_cuda for p in model.parameters())
    assert all(b.is_cuda for b in model.buffers())


def test_gradients_go_back_to_where_their_tensor_is() -> None:
    host = torch.ones(3, requires_grad=True)
    (host.to("cuda") * 2).sum().backward()
    assert host.grad is not None
    assert host.grad.is_cpu
    assert host.grad.tolist() == [2, 2, 2]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # torch 2.4 warns about itself
@pytest.mark.parametrize("reentrant", [True, False])
def test_code_that_runs_in_backward_is_simulated(reentrant: bool) -> None:
    def forward(y: torch.Tensor) -> torch.Tensor:
        return (y * torch.tensor([2.0], device="cuda")).sum()

    y = torch.ones(3, device="cuda", requires_grad=True)
    checkpoint(forward, y, use_reentrant=reentrant).backward()
    assert y.grad is not None
    assert y.grad.is_cuda


def test_autocast_and_gradient_scaling(x: torch.Tensor) -> None:
    with torch.autocast("cuda"):
        assert (x @ x).dtype == torch.float16
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert (x @ x).dtype == torch.bfloat16
    assert (x @ x).dtype == torch.float32
    layer = torch.nn.Linear(4, 4).cuda()
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(layer(x).sum()).backward()
    scaler.step(optimiser)
    scaler.update()
    assert scaler.get_scale() > 0


def test_save_and_load(x: torch.Tensor) -> None:
    file = io.BytesIO()
    torch.save({"x": x}, file)
    for location, device in ((None, "cuda"), ("cpu", "cpu")):
        file.seek(0)
        assert torch.load(file, map_location=location, weights_only=True)["x"].device.type == device


def test_numpy_is_refused(x: torch.Tensor) -> None:
    for convert in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
            convert()
    assert x.cpu().numpy().shape == (4, 4)


@pytest.mark.parametrize(
    "mix",
    [
        lambda x, host: x + host,
        lambda x, host: torch.cat([x, host]),
        torch.nn.functional.linear,
        lambda x, host: host.add_(x),
        lambda x, host: x.lerp_(host, 0.5),
        lambda x, host: host.logical_or_(x),
    ],
)
def test_operands_on_two_devices_are_refused(x: torch.Tensor, mix) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        mix(x, torch.zeros(4, 4))


def test_host_memory_is_not_indexed_from_the_gpu() -> None:
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        torch.zeros(4)[torch.tensor([1], device="cuda")]


def test_a_number_on_the_host_mixes(x: torch.Tensor) -> None:
    assert (x + torch.tensor(1.0)).is_cuda


def test_random_numbers_are_those_of_the_cpu() -> None:
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.cuda.manual_seed(3)
    assert torch.rand(3, device="cuda").tolist() == expected.tolist()
    state = torch.cuda.get_rng_state()
    drawn = torch.rand(3, device="cuda").tolist()
    torch.cuda.set_rng_state(state)
    assert torch.rand(3, device="cuda").tolist() == drawn


@pytest.mark.parametrize("which", ["of the device", "of the program"])
def test_the_state_of_a_generator_is_a_seed_and_an_offset(which: str) -> None:
    generator = torch.cuda.default_generators[0] if which == "of the device" else torch.Generator("cuda")
    drawn_by = {} if which == "of the device" else {"generator": generator}
    generator.manual_seed(3)

    def draw() -> list[float]:
        return torch.rand(3, device="cuda", **drawn_by).to("cpu", non_blocking=True).tolist()

    first = generator.get_state()
    assert (first.device.type, first.dtype, first.view(torch.int64).tolist()[0]) == ("cpu", torch.uint8, 3)
    assert torch.equal(generator.get_state(), first)
    numbers = draw()
    second = generator.get_state()
    assert not torch.equal(second, first)
    others = draw()
    generator.set_state(first)
    assert (draw(), draw()) == (numbers, others)
    generator.set_state(second)
    assert draw() == others
    moved = torch.tensor([3, second.view(torch.int64)[1].item() + 64]).view(torch.uint8)
    generator.set_state(moved)
    assert torch.equal(generator.get_state(), moved)
    generator.set_state(torch.tensor([5, 0]).view(torch.uint8))
    assert generator.initial_seed() == 5
    assert draw() == torch.rand(3, generator=torch.Generator().manual_seed(5)).tolist()


def test_generators() -> None:
    generator = torch.Generator("cuda").manual_seed(1)
    assert generator.device.type == "cuda"
    assert isinstance(generator, torch.Generator)
    assert isinstance(torch.default_generator, torch.Generator)
    assert torch.rand(3, device="cuda", generator=generator).is_cuda
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator"):
        torch.rand(3, device="cuda", generator=torch.Generator())


def test_a_context_of_a_stream_is_entered_again_and_within_itself(x: torch.Tensor) -> None:
    side, other = torch.cuda.Stream(), torch.cuda.Stream()
    context = torch.cuda.stream(side)
    for _ in range(2):
        with context:
            assert torch.cuda.current_stream() == side
            with torch.cuda.stream(None), other, side:
                assert torch.cuda.current_stream() == side
            assert torch.cuda.current_stream() == side
        assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_streams_and_events(x: torch.Tensor, seen: list[object]) -> None:
    side = torch.cuda.Stream()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        begin.record()
        x.record_stream(side)
        end.record(side)
    assert torch.cuda.current_stream() == torch.cuda.default_stream() != side
    torch.cuda.current_stream().wait_stream(side)
    side.wait_event(end)
    assert end.query()
    assert side.query()
    assert begin.elapsed_time(end) >= 0
    assert not seen


def test_threads_of_the_program_are_simulated(seen: list[object]) -> None:
    devices = []

    def work() -> None:
        tensor = torch.zeros(3, device="cuda")
        devices.append(tensor.device)
        tensor.sum().item()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert devices == [CUDA0] * 4
    assert len(seen) == 4


def test_a_process_group_for_nccl(tmp_path) -> None:
    if torch.distributed.is_initialized():
        pytest.skip("another test of the session has a process group")
    torch.distributed.init_process_group(
        "nccl", init_method=f"file://{tmp_path}/store", rank=0, world_size=1, device_id=torch.device("cuda:0")
    )
    try:
        tensor = torch.ones(3, device="cuda")
        torch.distributed.all_reduce(tensor)
        assert tensor.is_cuda
    finally:
        torch.distributed.destroy_process_group()


def test_an_operation_with_a_python_body_runs_under_the_simulation(x: torch.Tensor) -> None:
    def twice(y):
        return y * torch.tensor([2.0], device=y.device)

    twice.__annotations__ = {"y": torch.Tensor, "return": torch.Tensor}
    operation = torch.library.custom_op("syncscan_test::twice", twice, mutates_args=())
    assert operation(x).is_cuda


def test_a_dtype_for_which_the_cpu_has_no_kernel(x: torch.Tensor) -> None:
    counts = torch.histc(x.int(), bins=4, min=0, max=15)
    assert (counts.dtype, counts.tolist()) == (torch.int32, [4, 4, 4, 4])


def test_a_dtype_that_only_a_gpu_may_take_is_named(x: torch.Tensor) -> None:
    mask = x.flatten() > 0
    with pytest.raises(SimulationError, match=r"matmul cannot be simulated: .* refuses the dtype .*'Bool'"):
        mask @ mask
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        mask.cpu() @ mask.cpu()


@pytest.mark.parametrize("name", ["MemPool", "ExternalStream", "caching_allocator_alloc"])
def test_what_cannot_be_simulated_says_so(name: str) -> None:
    with pytest.raises(SimulationError, match=f"torch.cuda.{name} cannot be simulated"):
        getattr(torch.cuda, name)(None)


def test_what_cannot_be_simulated_can_be_named() -> None:
    assert torch.cuda.CUDAGraph | torch.cuda.StreamContext | torch.cuda.Stream | torch.Generator | None


def test_an_operation_with_a_kernel_for_the_gpu_only_is_named(x: torch.Tensor) -> None:
    library = torch.library.Library("syncscan_gpu", "DEF")
    library.define("only(Tensor x) -> Tensor")
    with pytest.raises(
        SimulationError, match=r"syncscan_gpu::only.* has a kernel for the GPU and none for the CPU"
    ):
        torch.ops.syncscan_gpu.only(x)


def test_an_operation_that_casts_on_the_gpu_only_is_named(x: torch.Tensor) -> None:
    library = torch.library.Library("test_casts", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    library.impl("twice", lambda x: x.half() * 2, "AutocastCUDA")
    for twice in (torch.ops.test_casts.twice, torch.ops.test_casts.twice.default):
        assert twice(x).is_cuda
        with torch.autocast("cuda"):
            assert not twice(x.cpu()).is_cuda
            with pytest.raises(
                SimulationError,
                match=r"test_casts.*twice(.default)? cannot be simulated under torch.autocast",
            ):
                twice(x)


def test_compilation_is_left_out(x: torch.Tensor) -> None:
    @torch.compile(fullgraph=True)
    def plus_one(y: torch.Tensor) -> torch.Tensor:
        return y + 1

    assert plus_one(x).is_cuda


def test_a_device_is_the_one_that_is_named() -> None:
    assert torch.device(device="cuda") == torch.device("cuda") == torch.device(type="cuda")
    assert torch.device(device="cuda:0").index == 0
    with torch.device("cuda"):
        assert (torch.device(device="cpu").type, torch.device(device="meta").type) == ("cpu", "meta")


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.zeros(1, device="cuda:7")


def test_nothing_is_kept_alive() -> None:
    tensor = torch.zeros(1 << 10, device="cuda")
    storage = weakref.ref(tensor.untyped_storage())
    del tensor
    gc.collect()
    assert storage() is None


def test_repr_names_the_device(x: torch.Tensor) -> None:
    assert repr(x[0]) == "tensor([0., 1., 2., 3.], device='cuda:0')"
    assert x.type() == "torch.cuda.FloatTensor"
