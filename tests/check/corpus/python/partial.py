"""`functools.partial` keeps the arguments that it has got."""

import functools
from functools import partial

import torch


def scaled(t, by):
    return t * by


def read(t, key=None):
    return t.item()  # expect: SYN101


double = functools.partial(scaled, by=2)
double(torch.ones(1, device="cuda")).item()  # expect: SYN101
double(torch.ones(1)).item()  # silent
reader = partial(read, torch.ones(1, device="cuda"))
reader(key=1)
on_gpu = partial(torch.zeros, device="cuda")
on_gpu(4).tolist()  # expect: SYN102
