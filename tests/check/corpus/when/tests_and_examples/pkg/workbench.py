"""A word in which one of those stands."""

import torch


def fill():
    torch.ones(1, device="cuda").item()  # expect: SYN101 (unknown)
