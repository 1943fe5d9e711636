"""Decorators and defaults are evaluated where the definition stands."""

import torch

x = torch.zeros(1, device="cuda")


def times(count):
    return lambda function: function


@times(x.item())  # expect: SYN101
def step(count=x.item()):  # expect: SYN101
    return count


def later(*, count=x.item(), other=None):  # expect: SYN101
    return count


@times(
    count=x.item(),  # expect: SYN101
)
class Runner:
    @times(x.item())  # expect: SYN101
    async def step(self):
        return 1
