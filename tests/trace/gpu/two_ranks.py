"""Two ranks that add up a number; rank 1 reads it once more. Run by torchrun."""

import os

import torch
import torch.distributed as dist


def step(loss):
    """One step of both."""
    dist.all_reduce(loss)
    loss.item()
    if dist.get_rank() == 1:
        loss.tolist()


if __name__ == "__main__":
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    for _ in range(10):
        step(torch.ones((), device="cuda"))
    dist.barrier()
    dist.destroy_process_group()
