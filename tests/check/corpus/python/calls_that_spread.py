"""`*` and `**` in calls, as far as what they hold is known."""

import torch


def two(a, b):
    a.item()  # expect: SYN101
    return b.item()  # todo: SYN101


def named(a, b=None):
    return a.item()  # expect: SYN101


def keywords(**table):
    for value in table.values():
        value.item()  # expect: SYN101
    return table


gpu = torch.ones(1, device="cuda")
rows = [gpu for _ in range(2)]
two(*rows)
named(**{"a": gpu})
keywords(a=gpu, b=gpu)["a"].item()  # expect: SYN101
print(*[gpu])  # expect: SYN107
max(*[gpu, gpu])  # expect: SYN104
