"""A test of the class takes whatever comes; the methods of a module get tensors where the module is."""

import numpy as np
import torch
from torch import nn


def as_array(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()  # expect: SYN105 (assumed)
    return np.asarray(value)


def copied_without_a_test(value):
    return value.detach().cpu().numpy()  # expect: SYN105 (inferred)


class Attention(nn.Module):
    def forward(self, x, cache: dict):
        end = cache["end"]
        if isinstance(end, torch.Tensor):
            end = end.item()  # expect: SYN101 (inferred)
        return x[:end]


class Cache:
    def read(self, table):
        end = table["end"]
        if isinstance(end, torch.Tensor):
            end = end.item()  # silent
        return end


def steps(device: torch.device):
    for t in torch.arange(4, device=device):
        yield t if isinstance(t, torch.Tensor) else torch.tensor([t], device=device)  # silent
        yield torch.tensor([t], device=device) if not torch.is_tensor(t) else t  # silent
        yield t if isinstance(t, int) else torch.tensor([t.item()], device=device)  # expect: SYN101, SYN301


class Host:
    def __init__(self, device="cpu"):
        self.device = device

    def back(self, x: torch.Tensor):
        return x.cuda().to(self.device)  # expect: SYN105 (assumed)
