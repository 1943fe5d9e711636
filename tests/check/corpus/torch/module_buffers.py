"""A buffer moves with its module, and that is to the GPU."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(16))
        self.register_buffer("host_only", None)
        self.plain = torch.arange(16)

    def forward(self, n: int):
        self.table.tolist()  # expect: SYN102 (inferred)
        self.plain.tolist()  # silent
        return self.table[n].item()  # expect: SYN101
