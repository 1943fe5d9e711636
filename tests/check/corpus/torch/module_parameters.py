"""Parameters move with their module."""

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = torch.nn.parameter.Parameter(torch.zeros(n))

    def forward(self, x):
        self.bias.tolist()  # expect: SYN102
        return self.weight.max().item()  # expect: SYN101


def norms(model: Scale):
    for parameter in model.parameters():
        parameter.norm().item()  # expect: SYN101
        parameter.grad.norm().item()  # expect: SYN101
    for name, parameter in model.named_parameters():
        print(name, parameter.shape)  # silent
        parameter.data.sum().item()  # expect: SYN101
    for buffer in model.buffers():
        buffer.tolist()  # expect: SYN102
    for name, buffer in model.named_buffers():
        buffer.tolist()  # expect: SYN102
    return sum(p.numel() for p in model.parameters())  # silent
