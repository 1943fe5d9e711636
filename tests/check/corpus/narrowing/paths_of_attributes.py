"""Tests of attributes and items narrow them, as tests of names do."""

import torch
from backend import lease


class Holder:
    def __init__(self):
        self.t = None
        self.table = {}

    def fill(self, fast: bool):
        self.t = torch.ones(1, device="cuda") if fast else torch.ones(1)

    def read(self, other):
        if self.t.is_cuda:
            self.t.item()  # expect: SYN101
        elif self.t is not None:
            self.t.item()  # silent
        if isinstance(other.rows, torch.Tensor) and other.rows.device.type == "cuda":
            other.rows.tolist()  # expect: SYN102
        if lease().is_cuda:  # silent
            return lease().tolist()  # silent: another one
        if self.table["a"].is_cuda:  # silent
            return self.table["a"].tolist()  # expect: SYN102
        return None
