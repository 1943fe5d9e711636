"""The reason for an item of an attribute is what was put there, not the attribute that already has it."""

import torch


class Batch:
    def __init__(self, rows=None):
        self.rows = rows


def fill(batch: Batch, row):
    batch.rows["x"] = row  # at: stored
    return batch


def read(batch: Batch):
    return batch.rows["x"].sum().item()  # expect: SYN101
    # because: stored: an assignment sets `batch.rows`
    # because: made: `torch.zeros(3, device="cuda")` places the tensor on the GPU


read(fill(Batch({}), torch.zeros(3, device="cuda")))  # at: made
