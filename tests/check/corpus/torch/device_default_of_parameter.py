"""A device that is the host unless a caller says so."""

import torch


class Pool:
    def __init__(self, size: int, device: str = "cpu"):
        self.rows = torch.zeros(size, device=device)

    def first(self):
        return self.rows[0].item()  # silent


class GpuPool:
    def __init__(self, size: int, device: str = "cuda"):
        self.rows = torch.zeros(size, device=device)

    def first(self):
        return self.rows[0].item()  # expect: SYN101 (inferred)
