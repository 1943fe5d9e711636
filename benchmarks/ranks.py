"""Training by several ranks: data parallel and fully sharded, for others to watch.

    torchrun --nproc-per-node 2 -m benchmarks.ranks [ddp | fsdp | collectives]

Each rank has a GPU, real or simulated: `syncscan trace --simulate --step benchmarks.ranks:step --warmup 2 -- torchrun
--nproc-per-node 2 -m benchmarks.ranks ddp` says which lines wait in a step. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import torch
from torch import distributed as dist

from benchmarks import ranks  # `--step` names the function by its module, and this one runs as `__main__`


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """One step of training, whose loss nobody reads."""
    loss = model(torch.randn(4, 32, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG)


def layers() -> torch.nn.Sequential:
    """A small network on the GPU of this rank."""
    return torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to("cuda")


def ddp() -> None:
    """Ten steps of DistributedDataParallel."""
    train(torch.nn.parallel.DistributedDataParallel(layers(), device_ids=[torch.cuda.current_device()]))


def fsdp() -> None:
    """Ten steps of `fully_shard`, with parameters cast to bfloat16."""
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard  # noqa: PLC0415 (torch 2.6 and newer)

    model = layers()
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for layer in (model[0], model[2], model):
        fully_shard(layer, mp_policy=policy)
    train(model)


def train(model: torch.nn.Module) -> None:
    """Ten steps of AdamW."""
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(10):
        ranks.step(model, optimizer)


def collectives() -> None:
    """Each collective alone, on a line of its own; which lines wait is the result."""
    size, rank = dist.get_world_size(), dist.get_rank()
    some = torch.ones(4 * size, device="cuda")
    many = torch.ones(4 * size * size, device="cuda")
    parts = list(many.chunk(size))
    for _ in range(3):
        dist.all_reduce(some)
        dist.all_reduce(some, async_op=True).wait()
        dist.broadcast(some, 0)
        dist.reduce(some, 0)
        dist.all_gather(parts, some)
        dist.all_gather_into_tensor(many, some)
        dist.reduce_scatter_tensor(some, many)
        dist.reduce_scatter(some, parts)
        dist.all_to_all_single(torch.empty_like(some), some)
        chain(some, rank, size)
        dist.barrier()
        gathered: list[Any] = [None] * size
        dist.all_gather_object(gathered, rank)
        dist.broadcast_object_list(gathered, 0)
        torch._chunk_cat([some, many], 0, size)


def chain(some: torch.Tensor, rank: int, size: int) -> None:
    """From each rank to the next."""
    if rank:
        dist.recv(some, rank - 1)
    if rank + 1 < size:
        dist.send(some, rank + 1)


PROGRAMS = {"ddp": ddp, "fsdp": fsdp, "collectives": collectives}


def main() -> None:
    """Run one program on this rank."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", choices=sorted(PROGRAMS), nargs="?", default="ddp")
    options = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    PROGRAMS[options.program]()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
