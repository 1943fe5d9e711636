"""What follows a test of the hardware with `elif` or `else` runs where that test does not hold."""

import torch


def with_a_gpu(t: torch.Tensor):
    t = torch.ones(4, device="cuda")
    if torch.cuda.is_available():
        t.tolist()  # expect: SYN102
    elif t.any():  # silent: there is no GPU
        t.tolist()  # silent
    else:
        t.sum().item()  # silent


def without_a_gpu(t: torch.Tensor):
    t = torch.ones(4, device="cuda")
    if not torch.cuda.is_available():
        t.tolist()  # silent
    elif t.any():  # expect: SYN104
        t.tolist()  # expect: SYN102
    else:
        t.sum().item()  # expect: SYN101


def in_the_middle(t: torch.Tensor, flag: bool):
    t = torch.ones(4, device="cuda")
    if flag:
        t.tolist()  # expect: SYN102
    elif torch.cuda.is_available():
        t.tolist()  # expect: SYN102
    elif t.any():  # silent
        t.tolist()  # silent
    return t.sum().item()  # expect: SYN101
