"""Lines behind a flag that is off in the whole project: no step reaches them before somebody turns the flag on."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, checks=False, fused=True, mixed=False):
        super().__init__()
        self.checks = checks
        self.fused = fused
        self.mixed = mixed
        self.late = False

    def enable(self):
        self.late = True

    def forward(self, x: torch.Tensor, cached=False):
        if self.checks:
            x.any().item()  # expect: SYN101 (unknown)
        if self.checks and x.dim() > 1:
            x.any().item()  # expect: SYN101 (unknown)
        if self.checks or x.dim() > 1:
            x.any().item()  # expect: SYN101 (step)
        if not self.checks:
            x.any().item()  # expect: SYN101 (step)
        if self.mixed:
            x.any().item()  # expect: SYN101 (step)
        if self.late:
            x.any().item()  # expect: SYN101 (step)
        if self.training:
            x.any().item()  # expect: SYN101 (step)
        if cached:
            x.any().item()  # expect: SYN101 (unknown)
        elif self.checks:
            x.any().item()  # expect: SYN101 (unknown)
        else:
            x.any().item()  # expect: SYN101 (step)
        return self.attend(x)

    def attend(self, x):
        if self.fused:
            return x
        for row in x:
            row.any().item()  # expect: SYN101 (unknown)
        return x.any().item()  # expect: SYN101 (unknown)


layers = Layer(), Layer(mixed=True)
for layer in layers:
    layer(torch.ones(1, 2, device="cuda"))
