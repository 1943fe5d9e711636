"""A folder that serves tests."""

import torch


def fill():
    torch.ones(1, device="cuda").item()  # expect: SYN101 (test)
