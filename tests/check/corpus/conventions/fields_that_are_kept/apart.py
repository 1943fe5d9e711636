"""Has nothing to do with the others."""

import torch


def total(sizes: torch.Tensor):
    return sizes.sum().item()  # expect: SYN101 (assumed)
