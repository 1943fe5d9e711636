"""A test of `is_cuda` makes a tensor of what is not known, and of nothing else."""

import torch


class Batch:
    is_cuda = True

    def __init__(self):
        self.rows = torch.ones(4, device="cuda")


def run(batch: Batch, table: dict):
    if batch.is_cuda:
        batch.rows.tolist()  # expect: SYN102
    if batch.device.type == "cuda":
        batch.rows.tolist()  # expect: SYN102
    moved = table.to("cuda")
    if isinstance(moved, dict):
        moved.cpu()  # silent
    if isinstance(moved, (list, tuple)):
        moved.cpu()  # silent
    return getattr(batch, "missing", torch.ones(1, device="cuda")).tolist()  # expect: SYN102
