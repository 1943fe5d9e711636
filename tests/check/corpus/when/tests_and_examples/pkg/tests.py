"""A file that holds tests."""

import torch


def check():
    torch.ones(1, device="cuda").item()  # expect: SYN101 (test)
