"""What a call passes besides what a partial has got, and instead of it."""

import functools

import torch


def read(t, other=None):
    if other is not None:
        other.item()  # expect: SYN101
    return t.item()  # silent


placed = functools.partial(torch.zeros, 4)
placed(device="cuda").tolist()  # expect: SYN102
placed().tolist()  # silent
on_gpu = functools.partial(torch.zeros, 4, device="cuda")
on_gpu(device="cpu").tolist()  # silent
functools.partial(on_gpu, dtype=torch.int64)().tolist()  # expect: SYN102
functools.partial(read, torch.ones(1))(other=torch.ones(1, device="cuda"))
functools.partial(functools.partial, torch.ones)(4, device="cuda")().tolist()  # expect: SYN102
