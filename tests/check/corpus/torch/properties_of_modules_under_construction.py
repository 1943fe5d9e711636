"""A property reads the tensors of a module on the host while the module is made, and on the GPU afterwards."""

import torch
from torch import nn


class Table(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.register_buffer("numbers", torch.arange(n))
        self.count = len(self.symbols)  # silent

    @property
    def symbols(self) -> list[int]:
        return [3 * number for number in self.numbers.tolist()]  # expect: SYN102

    def forward(self, x):
        return x + len(self.symbols)  # expect: SYN501


class Outer(nn.Module):
    def __init__(self, table: Table):
        super().__init__()
        self.names = table.symbols  # silent
