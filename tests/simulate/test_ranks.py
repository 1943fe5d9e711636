"""Several ranks: what runs in each of them beside the collectives waits no more than on a GPU."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from syncscan import simulated_cuda

torch = pytest.importorskip("torch")
dist = torch.distributed
if not dist.is_available():
    pytest.skip("torch without torch.distributed", allow_module_level=True)

SPAWNED = """\
import os, sys
import torch, torch.distributed as dist, torch.multiprocessing as mp


def step(t):
    dist.all_reduce(t)
    return t.sum().item()


def work(rank, store):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=store, rank=rank, world_size=2)
    t = torch.full((4,), float(rank + 1), device="cuda")
    print(f"{step(t)} on {t.device}\\n", end="")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, (sys.argv[1],), nprocs=2)
"""


@pytest.fixture
def waits() -> Iterator[list]:
    """What waits while the test has a group of one rank."""
    with simulated_cuda() as seen:
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
        try:
            yield seen
        finally:
            dist.destroy_process_group()


def train(model: torch.nn.Module, waits: list) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    del waits[:]
    for _ in range(3):  # the buckets are made again after the first
        model(torch.ones(2, 4, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def test_data_parallel_training_waits_nowhere(waits):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 3).cuda(), device_ids=[0])
    train(model, waits)
    assert waits == []
    assert {parameter.device for parameter in model.parameters()} == {torch.device("cuda:0")}


def test_fully_sharded_training_waits_nowhere(waits):
    fsdp = pytest.importorskip("torch.distributed.fsdp")
    if not hasattr(fsdp, "fully_shard"):
        pytest.skip("torch before 2.6")
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2)).cuda()
    del waits[:]
    policy = fsdp.MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for layer in (*model, model):
        fsdp.fully_shard(layer, mp_policy=policy)
    assert waits == []
    train(model, waits)
    assert waits == []
    parameters = list(model.parameters())
    assert {parameter.to_local().device for parameter in parameters} == {torch.device("cuda:0")}
    assert {(parameter.device, parameter.is_cuda) for parameter in parameters} == {
        (torch.device("cuda:0"), True)
    }


def test_a_tensor_that_is_spread_over_ranks_is_where_its_parts_are(waits):
    tensor = pytest.importorskip("torch.distributed.tensor")
    mesh = dist.device_mesh.init_device_mesh("cuda", (1,))
    spread = tensor.distribute_tensor(torch.ones(2, 2, device="cuda"), mesh, [tensor.Shard(0)])
    del waits[:]
    doubled = spread * 2
    assert (spread.device, doubled.device, doubled.is_cuda, doubled.get_device()) == (
        *(torch.device("cuda:0"),) * 2, True, 0,
    )  # fmt: skip
    assert spread.to("cuda") is spread
    assert waits == []
    below = doubled.cpu()
    assert (below.device, below.to_local().device, below.to_local().tolist()) == (
        *(torch.device("cpu"),) * 2, [[2.0, 2.0]] * 2,
    )  # fmt: skip
    assert doubled.sum().item() == 8
    assert [wait.api for wait in waits] == ["torch.Tensor.cpu", "torch.Tensor.item"]


def test_a_hook_finds_the_gradients_of_a_bucket_on_the_gpu(waits):
    seen = []

    def hook(state, bucket):
        seen.append((bucket.buffer().device, float(bucket.buffer().sum())))
        return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda done: done.value()[0])

    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 3).cuda(), device_ids=[0])
    model.register_comm_hook(None, hook)
    train(model, waits)
    assert {device for device, _ in seen} == {torch.device("cuda:0")}
    assert [wait.api for wait in waits] == ["torch.Tensor.__float__"] * len(seen)


@pytest.mark.parametrize("name", ["all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single"])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_collective_waits_for_no_copy_of_gloo(waits, name):
    given, result = torch.ones(4, device="cuda"), torch.empty(4, device="cuda")
    getattr(dist, name)(result, given)
    getattr(dist, name)(result, given, async_op=True).wait()
    assert waits == []
    assert result.is_cuda
    assert result.tolist() == [1.0] * 4


def test_spawned_ranks_have_the_gpus_that_are_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm):
    (tmp_path / "program.py").write_text(SPAWNED, encoding="utf-8")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    command = ("trace", "--simulate", "-o", "out", "--", sys.executable, "program.py")
    done = warm.run(*command, f"file://{tmp_path}/store", cwd=tmp_path)
    assert sorted(done.stdout.splitlines()) == ["12.0 on cuda:0", "12.0 on cuda:1"], done.stderr
    trace = json.loads((tmp_path / "out" / "trace.json").read_text(encoding="utf-8"))
    assert {(site["line"], site["count"]) for site in trace["sites"]} == {(7, 2)}


def test_a_device_that_is_not_there_says_how_to_have_it():
    with simulated_cuda(devices=2), pytest.raises(RuntimeError, match="invalid device ordinal") as raised:
        torch.ones(1, device="cuda:2")
    assert "simulated GPUs: 2; " in str(raised.value)
    assert "CUDA_VISIBLE_DEVICES" in str(raised.value)


@pytest.mark.parametrize(("backend", "count"), [("gloo", 0), ("nccl", 1), (None, 1)])
@pytest.mark.parametrize("named", [False, True], ids=["by place", "by name"])
def test_a_new_group_waits_as_its_backend_does(waits, backend, count, named):
    group = dist.new_group([0], backend=backend) if named else dist.new_group([0], None, backend)
    tensor = torch.ones(2, device="cpu" if backend == "gloo" else "cuda")
    dist.barrier(group=group)
    assert [wait.api for wait in waits] == ["torch.distributed.barrier"] * count
    dist.all_reduce(tensor, group=group)
    assert tensor.tolist() == [1.0, 1.0]
