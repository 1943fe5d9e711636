"""Collectives on tensors of the GPU do not wait; whether the others do depends on the backend of the group."""

import torch
import torch.distributed as dist


def reduce(loss):
    total = torch.ones((), device="cuda")
    dist.all_reduce(total)  # silent
    dist.broadcast(total, src=0)  # silent
    if dist.get_rank() == 0:  # silent
        print(total.item())  # expect: SYN101
    dist.barrier()  # silent
    gathered = [torch.zeros_like(total) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, total)  # silent
    return gathered[0].item()  # expect: SYN101
