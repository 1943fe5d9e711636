"""A property whose decorator keeps the result blocks its first reader only, whatever project the decorator is of."""

import torch
from tools import cached, cached_by_name, locked


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
