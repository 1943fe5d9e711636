"""A property whose decorator keeps the result blocks its first reader only, whatever project the decorator is of."""

import torch
from tools import cached, cached_by_name, locked
from torch import nn


class Kept:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")

    @property
    @cached
    def first(self):
        return self.rows[0].item()  # expect: SYN101

    @property
    @cached_by_name("last")
    def last(self):
        return self.rows[-1].item()  # expect: SYN101

    @property
    @locked
    def sum(self):
        return self.rows.sum().item()  # expect: SYN101


def read(kept: Kept):
    print(kept.first)  # silent
    print(kept.last)  # silent
    print(kept.sum)  # expect: SYN501


class Other(Kept):
    @property
    def first(self):
        return self.rows[1].item()  # expect: SYN101


def read_any(kept: Kept, other: Other):
    print(kept.first)  # silent: it may be the one that is kept
    print(other.first)  # expect: SYN501


class Codebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("_filled", torch.zeros(1, device="cuda"))
        self._is_filled = False
        self._count = None

    @property
    def is_filled(self):
        if not self._is_filled:
            self._is_filled = bool(self._filled.item())  # expect: SYN101
        return self._is_filled

    @property
    def count(self):
        if self._count is not None:
            return self._count
        self._count = self.compute()
        return self._count

    @property
    def computed(self):
        if self._count is None:
            self._count = 0
        return self._count + self.compute()

    def compute(self):
        return self._filled.item()  # expect: SYN101

    def forward(self, x):
        if self.is_filled:  # silent
            x = x + 1
        x = x * self.count  # silent
        return x * self.computed  # expect: SYN501
