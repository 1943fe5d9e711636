"""A helper that returns its argument returns no tensor where a call gives numbers alone."""

import torch


def default(*values):
    for value in values:
        if value is not None:
            return value


def run(weight: float):
    mask = default(None, torch.ones(4, device="cuda"))
    if default(0.5, 1.0) > 0:
        mask = mask + 1
    if default(mask, 1.0).sum() > 0:  # expect: SYN104
        return mask
    return default(0, 1)
