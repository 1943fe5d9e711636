"""A collective over a group of unknown backend is not reported."""

import torch
import torch.distributed as dist


def start(group: dist.ProcessGroup):
    dist.barrier(group=group)  # silent
    torch.cuda.synchronize()  # expect: SYN401
