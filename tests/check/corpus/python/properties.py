"""A property is read like an attribute, and runs its body."""

import torch


class Batch:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")
        self._lens = torch.ones(4)

    @property
    def total(self):
        return self.rows.sum()

    @property
    def lens(self):
        return self._lens

    @lens.setter
    def lens(self, value):
        self._lens = value

    @property
    def count(self):
        return self.rows.sum().item()  # expect: SYN101


def run(batch: Batch):
    batch.total.item()  # expect: SYN101
    batch.lens.tolist()  # silent
    return batch.count  # expect: SYN501 `batch.count`
