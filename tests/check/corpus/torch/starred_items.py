"""What `*` spreads into a tuple or a list keeps its place there."""

import torch


def pick(names, sizes):
    x = torch.ones(2, 3, device="cuda")
    rows = (x[0], [0, 1])
    first = [*rows, 3][0]
    if first.any():  # expect: SYN104
        return x[(*rows[1:], ...)]
    last = [*rows, 3][2]
    if last:  # silent
        return last
    return x[(..., *sizes)]  # silent
