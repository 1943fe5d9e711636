"""A callable that is one of two: which of them runs is not known, so what it waits for is not said."""

import torch


def double(t):
    return t * 2


def run(fast: bool):
    apply = double if fast else (lambda t: t.sum())
    apply(torch.ones(4, device="cuda"))  # silent
    return torch.ones(4, device="cuda").sum().item()  # expect: SYN101
