"""Python's own functions that read a value wait; those that ask about it do not."""

import math
import operator

import torch


def run():
    t = torch.ones((), device="cuda")
    int(t), float(t)  # expect: SYN103, SYN103
    bool(t)  # expect: SYN103
    complex(t)  # expect: SYN103
    round(t)  # silent: an operation on the GPU
    abs(t)  # silent
    len(torch.ones(4, device="cuda"))  # silent
    isinstance(t, torch.Tensor), hasattr(t, "item"), id(t), hash(t)  # silent
    math.sqrt(t)  # expect: SYN103
    operator.index(t)  # expect: SYN103
    range(t)  # expect: SYN106
    str(t), repr(t)  # expect: SYN107, SYN107
    print("t", t)  # expect: SYN107
    max(t, 1), min([t, t])  # expect: SYN104, SYN104
    any([t]), all([t])  # expect: SYN104, SYN104
    sum([t, t])  # silent
    sorted([t, t])  # expect: SYN104
    largest = max(t, torch.zeros((), device="cuda"))  # expect: SYN104
    return largest.item()  # expect: SYN101
