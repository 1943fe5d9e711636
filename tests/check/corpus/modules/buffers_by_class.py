"""`nn.Buffer` registers a tensor, which moves with the module and is copied with it."""

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.inv_freq = nn.Buffer(torch.ones(3), persistent=False)
        self.plain = torch.ones(3)

    def forward(self, x):
        self.inv_freq.sum().item()  # expect: SYN101
        self.plain.sum().item()  # silent
        return x


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.nn.parameter.Buffer(torch.ones(3))


class Empty(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.ones(3)


def run(x):
    Rotary().cuda()(x)  # expect: SYN302
    Table().to("cuda")  # expect: SYN302
    Empty().to("cuda")  # silent
