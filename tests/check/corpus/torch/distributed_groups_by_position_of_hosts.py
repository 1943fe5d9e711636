"""The same where the default group is one of the hosts."""

import torch.distributed as dist


def main(limit):
    dist.init_process_group("gloo")
    by_position = dist.new_group([0, 1], limit, "nccl")
    dist.barrier()  # silent
    dist.barrier(dist.new_group([0, 1], limit))  # silent
    dist.barrier(by_position)  # expect: SYN402
