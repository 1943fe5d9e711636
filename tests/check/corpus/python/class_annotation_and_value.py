"""What an attribute is set to counts, whatever its annotation says."""

import torch


class Counter:
    count: int
    rows: list[int]
    other: "Counter"

    def __init__(self):
        self.count = torch.ones(1, device="cuda")
        self.rows = torch.ones(4, device="cuda")
        self.named: torch.Tensor = torch.ones(4)
        self.unset: torch.Tensor
        self.library = torch

    def read(self):
        self.count.item()  # expect: SYN101
        self.rows.tolist()  # expect: SYN102
        self.named.tolist()  # silent
        self.other.count.item()  # expect: SYN101
        self.library.ones(4, device="cuda").tolist()  # expect: SYN102
        return self.unset.tolist()  # silent
