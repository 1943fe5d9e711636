"""`type(x) is int` holds for no tensor, and `x or "text"` has none."""

import torch


def stage(step, n):
    if type(step) is int:
        return int(step / n)  # silent
    if type(step) == float:
        return int(step)  # silent
    return step.item()  # expect: SYN101


def named(sample):
    return sample["text"] or "none"  # silent


def chosen(mask: torch.Tensor):
    return mask.any() and "some" or "none"  # expect: SYN104


def lengths(x, n):
    if len(x) == n:
        return x.cpu()  # silent
    return n


stage(torch.ones(3, device="cuda").sum(), 3)
stage(3, 4)
named({"text": torch.ones((), device="cuda")})
