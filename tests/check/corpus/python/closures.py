"""A nested function reads what the outer one binds, also later than its definition."""

import torch


def outer():
    lens = torch.ones(4, device="cuda")
    host = torch.ones(4)

    def inner():
        lens.tolist()  # expect: SYN102
        host.tolist()  # silent
        later.tolist()  # expect: SYN102
        return deepest()

    def deepest():
        return lens.sum()

    later = torch.ones(4, device="cuda")
    inner().item()  # expect: SYN101
    return inner


def factory(scale):
    def apply(t):
        return t * scale

    return apply


factory(2)(torch.ones(1, device="cuda")).item()  # expect: SYN101
