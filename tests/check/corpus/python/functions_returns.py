"""A call gives what any return gives; a recursive one too."""

import torch


def early(flag: bool):
    if flag:
        return None
    return torch.ones(1, device="cuda")


def nested(depth: int):
    if depth == 0:
        return torch.ones(1, device="cuda")
    return nested(depth - 1)


def nothing(t):
    t.zero_()


def even(n: int):
    return torch.ones(1, device="cuda") if n == 0 else odd(n - 1)


def odd(n: int):
    return even(n - 1)


def run():
    t = early(False)
    if t is not None:
        t.item()  # expect: SYN101
    nested(3).item()  # expect: SYN101
    odd(3).item()  # expect: SYN101
    empty = nothing(torch.ones(1, device="cuda"))
    return empty
