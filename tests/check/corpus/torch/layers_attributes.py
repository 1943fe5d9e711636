"""The weights of a layer of torch are where the layer is."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4, device="cuda")
        self.register_parameter("scale", nn.Parameter(torch.ones(1)))

    def forward(self, x):
        self.scale.item()  # expect: SYN101
        return self.linear.weight.tolist()  # expect: SYN102


Head()(torch.ones(4, device="cuda"))
