"""A helper that puts its result on the GPU, whatever it is given."""

import torch


def ensured(t):
    return t if t.is_cuda else torch.ones(1, device="cuda")


def added(t):
    return torch.ones(1, device="cuda") + t


def only(t):
    return t + 1


gpu, host = torch.ones(1, device="cuda"), torch.ones(())
ensured(host).item()  # expect: SYN101
ensured(gpu).item()  # expect: SYN101
added(host).item()  # expect: SYN101
only(host).item()  # silent
only(gpu).item()  # expect: SYN101
