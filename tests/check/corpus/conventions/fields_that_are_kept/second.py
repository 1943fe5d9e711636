"""Imports from the first."""

import torch

from .first import fields_of


def total(sizes: torch.Tensor, pixels: torch.Tensor):
    print(fields_of)
    print(sizes.sum().item())  # silent
    return pixels.sum().item()  # expect: SYN101 (assumed)
