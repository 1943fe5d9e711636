"""The tensors that a forward gets are on the GPU, if nobody is seen to pass others."""

import torch
from torch import nn


class Head(nn.Module):
    def forward(self, hidden: torch.Tensor, lens_cpu: torch.Tensor, scale: float, names: list[str]):
        hidden.sum().item()  # expect: SYN101 (inferred)
        lens_cpu.max().item()  # silent
        return self.helper(hidden)

    def helper(self, x):
        return x.max().item()  # expect: SYN101 (inferred)

    def apply_to(self, x: torch.Tensor):
        return x.max().item()  # expect: SYN101 (inferred)


class Host(nn.Module):
    def forward(self, hidden: torch.Tensor):
        return hidden.sum().item()  # silent: its only caller passes a tensor of the host


Host()(torch.ones(4))


def free(x: torch.Tensor):
    return x.max().item()  # expect: SYN101 (assumed)


def optional(x: torch.Tensor | None = None):
    return None if x is None else x.max().item()  # expect: SYN101 (assumed)
