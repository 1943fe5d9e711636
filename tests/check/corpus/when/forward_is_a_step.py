"""What a forward reaches runs in every step."""

import torch
from torch import nn


def longest(lens):
    return lens.max().item()  # expect: SYN101 (step)
    # reached: Model.forward > Model.lens > longest


def report(lens):
    return lens.max().item()  # expect: SYN101 (unknown)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.zeros(1, device="cuda").item()  # expect: SYN101 (once)

    def lens(self):
        return longest(torch.ones(4, device="cuda"))

    def forward(self, x: torch.Tensor):
        self.lens()
        return x.sum().item()  # expect: SYN101 (step)
        # reached: Model.forward


class NoModule:
    def forward(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (unknown)


report(torch.ones(4, device="cuda"))
