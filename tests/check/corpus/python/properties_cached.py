"""A cached property waits for its first reader only."""

import functools
from functools import cached_property

import torch
from torch.distributions.utils import lazy_property


class Batch:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")

    @cached_property
    def count(self):
        return self.rows.sum().item()  # expect: SYN101

    @functools.cached_property
    def total(self):
        return self.rows.sum()

    @lazy_property
    def mean(self):
        return self.rows.mean()

    @property
    def twice(self):
        return 2 * self.count  # silent


def run(batch: Batch):
    batch.count  # silent
    batch.twice  # silent
    batch.mean.item()  # expect: SYN101
    return batch.total.item()  # expect: SYN101
