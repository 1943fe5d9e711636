"""A tensor made like a GPU tensor may be in pinned memory."""

import torch

x = torch.zeros(8, device="cuda")


def read():
    pinned = torch.empty_like(x, device="cpu", pin_memory=True)
    pinned.copy_(x, non_blocking=True)  # silent
    new = x.new_empty(8, device="cpu", pin_memory=True)
    new.copy_(x, non_blocking=True)  # silent
    pageable = torch.empty_like(x, device="cpu")
    pageable.copy_(x, non_blocking=True)  # expect: SYN304
    unpinned = torch.empty_like(x, device="cpu", pin_memory=False)
    unpinned.copy_(x, non_blocking=True)  # expect: SYN304
