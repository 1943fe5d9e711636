"""A value that may be one of several tuples is unpacked as the one of that length."""

import torch


def encode(x, with_scale=False):
    if with_scale:
        return x * 2, torch.ones(3), x.sum()
    return x * 2, [1, 2]


def step(flag):
    x = torch.ones(3, device="cuda")
    code, scale, total = encode(x, with_scale=True)
    code.tolist()  # expect: SYN102
    scale.tolist()  # silent
    total.item()  # expect: SYN101
    code, sizes = encode(x)
    for size in sizes:
        if size:  # silent
            code.cpu()  # expect: SYN105
    either = encode(x, flag)
    either[0].cpu()  # expect: SYN105
    either[1].tolist()  # silent
    first, *others = encode(x, flag)
    first.cpu()  # expect: SYN105
    longer = encode(x, flag) + (torch.ones(3),)
    longer[0].cpu()  # expect: SYN105
    return [each for each in others]


def grown(x):
    parts = ()
    for _ in range(3):
        parts = (*parts, x)
        parts += (x,)
    return parts


def use():
    left, right = grown(torch.ones(3, device="cuda"))
    left.cpu()  # expect: SYN105
    right.cpu()  # expect: SYN105


class Pairs:
    def __init__(self):
        self.rows = [torch.ones(3, device="cuda"), torch.ones(3, device="cuda")]

    def __iter__(self):
        return iter(self.rows)


def unpacked_object():
    left, right = Pairs()
    left.cpu()  # expect: SYN105
    right.cpu()  # expect: SYN105
