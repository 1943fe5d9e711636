"""The last operand of ``and`` and ``or`` is not asked for its truth: it is the result."""

import torch


def run(flag: bool):
    gpu = torch.zeros((), device="cuda")
    last = flag and gpu  # silent
    other = flag or gpu  # silent
    first = gpu and flag  # expect: SYN104
    middle = flag and gpu and flag  # expect: SYN104
    return last, other, first, middle


def in_a_list_of_none(step: int):
    x = torch.ones(3, device="cuda").sum()
    if x in [None]:  # silent
        return 1
    return x in [None, step]  # expect: SYN104
