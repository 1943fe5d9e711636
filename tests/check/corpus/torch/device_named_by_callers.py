"""Each caller names a device of its own."""

import torch


def make(size: int, device: str):
    return torch.zeros(size, device=device)


def made_here(size: int, device: str = "cpu"):
    return torch.zeros(size, device=device)


make(4, "cpu").sum().item()  # silent
made_here(4, "cuda").sum().item()  # expect: SYN101
