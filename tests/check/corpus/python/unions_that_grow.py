"""A value that is set on several paths, one after the other, is any of them."""

import torch


def run(a: bool, b: bool):
    x = None
    if a:
        x = torch.ones(1)
    if b:
        x = torch.ones(1, device="cuda")
    x.item()  # expect: SYN101 (inferred)
    y = None
    if a:
        y = torch.ones(1)
    if b:
        y = torch.ones(2)
    return y.tolist()  # silent
