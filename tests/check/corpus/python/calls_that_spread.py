"""`*` and `**` in calls, as far as what they hold is known."""

import torch


def two(a, b):
    a.item()  # expect: SYN101
    return b.item()  # expect: SYN101


def with_default(a, b=None, c=0):
    return a.item(), b or c  # expect: SYN101


class Two:
    def run(self, a, b):
        return 1


class Below(Two):
    def run(self, a, b):
        return b.item()  # expect: SYN101


def named(a, b=None):
    return a.item()  # expect: SYN101


def keywords(**table):
    for value in table.values():
        value.item()  # expect: SYN101
    return table


gpu = torch.ones(1, device="cuda")
rows = [gpu for _ in range(2)]
two(*rows)
with_default(*rows)


def through(runner: Two):
    runner.run(*rows)


named(**{"a": gpu})
keywords(a=gpu, b=gpu)["a"].item()  # expect: SYN101
print(*[gpu])  # expect: SYN107
max(*[gpu, gpu])  # expect: SYN104
