"""A benchmark beside it."""

import torch


def read():
    return torch.ones(1, device="cuda").item()  # expect: SYN101 (unknown)
