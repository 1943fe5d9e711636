"""One that shows how it is done."""

import torch


def show():
    torch.ones(1, device="cuda").item()  # expect: SYN101 (test)
