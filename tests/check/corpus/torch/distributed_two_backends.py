"""A program that makes its default group in one of two ways says nothing about it."""

import torch.distributed as dist


def main(ranks: int):
    if ranks > 1:
        dist.init_process_group("nccl")
    else:
        dist.init_process_group("gloo")
    dist.barrier()  # silent
