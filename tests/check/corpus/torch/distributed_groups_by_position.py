"""`new_group` takes ranks, a limit of time, and then the backend; without one it is of the default group's."""

import torch.distributed as dist


def main(limit):
    dist.init_process_group("nccl")
    by_position = dist.new_group([0, 1], limit, "gloo")
    by_name = dist.new_group([0, 1], backend="gloo")
    of_the_default = dist.new_group([0, 1], limit)
    of_that_backend = dist.new_group([0, 1], limit, "nccl")
    dist.barrier(by_position)  # silent
    dist.barrier(by_name)  # silent
    dist.barrier(of_the_default)  # expect: SYN402
    dist.barrier(of_that_backend)  # expect: SYN402
