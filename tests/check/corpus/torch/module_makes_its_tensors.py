"""What a module makes when it is made may be on the GPU from the start, under a default device."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.device = torch.device("cuda")
        self.table = self._table()

        self._reset()

    def _table(self):
        return torch.arange(16).float().to(self.device)  # silent

    def _reset(self):
        self.count = torch.zeros(3).sum().item()  # silent

    def forward(self, x: torch.Tensor):
        self._reset()
        return x + torch.arange(16).to(self.device)  # expect: SYN302


def make():
    with torch.device("cuda"):
        return Rotary()
