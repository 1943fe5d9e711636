"""A module's call runs its forward; layers of torch work where their input is."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4).to("cuda")  # expect: SYN302
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.many = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x):
        x = self.norm(self.linear(x))
        for layer in self.many:
            x = layer(x)
        return self.layers(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, ids: torch.Tensor):
        return self.block(ids).max().item()  # expect: SYN101 (inferred)


block = Block().cuda()  # expect: SYN302
block(torch.ones(4, device="cuda")).sum().item()  # expect: SYN101
block.eval().linear(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
nn.Linear(4, 4)(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
nn.functional.relu(torch.ones(4, device="cuda")).tolist()  # expect: SYN102
