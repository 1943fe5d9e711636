"""A group of NCCL stops the host where no tensor says what is waited for; one of the hosts does not."""

import torch.distributed as dist
from torch.distributed import barrier


def main(unknown):
    dist.init_process_group(backend="nccl")  # at: made
    for _ in range(3):
        barrier()  # expect: SYN402 (inferred)
        # because: made: `dist.init_process_group(backend="nccl")` makes the group
        barrier(async_op=True)  # silent
        dist.all_gather_object([None], 1, group=None)  # expect: SYN402
        dist.broadcast_object_list([1], 0, group=unknown)  # silent


class Runner:
    def __init__(self):
        self.hosts = dist.new_group(backend="gloo")
        self.gpus = dist.new_group([0, 1])

    def step(self):
        dist.barrier(self.hosts)  # silent
        dist.barrier(group=self.gpus)  # expect: SYN402
