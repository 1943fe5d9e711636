"""What a name would promise does not count where a function that comes later says more."""

import torch


def use():
    rows_gpu = make()
    keep(rows_gpu)
    lens = made()
    keep_other(lens)


def keep(t):
    return t.item()  # silent


def keep_other(t):
    return t.item()  # expect: SYN101 (inferred)


def make():
    return torch.ones(1)


def made():
    return torch.ones(1, device=where())


def where():
    return torch.device("cuda")
