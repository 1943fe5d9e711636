"""While a module is made, its parts are where they were made; afterwards they are where the module is."""

import torch
from torch import nn


class Degrees(nn.Module):
    def __init__(self, n: int, device: torch.device):
        super().__init__()
        self.register_buffer("degrees", torch.arange(n) % 3)
        self.register_buffer("placed", torch.arange(n, device=device))
        if self.placed.any():  # expect: SYN104
            self.linear = nn.Linear(n, n)


class Masked(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.first = Degrees(n, n.device)
        self.linear = nn.Linear(n, n)
        if torch.all(self.first.degrees > 1).item():  # silent
            self.linear.weight.tolist()  # silent

    def forward(self, x):
        self.first.degrees.tolist()  # expect: SYN102
        self.linear.bias.tolist()  # expect: SYN102
        return self.act(x)

    def act(self, observation):
        return self.linear(observation).argmax(dim=1).cpu()  # expect: SYN105
