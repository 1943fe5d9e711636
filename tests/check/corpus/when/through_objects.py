"""Calls are followed through methods, overrides, makers, properties, lambdas and partials."""

import functools

import torch


class Sampler:
    def __init__(self):
        self.made = torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
        # reached: step > Sampler.__init__

    def sample(self):
        return None

    @property
    def count(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
        # reached: step > Sampler.count


class Greedy(Sampler):
    def sample(self):
        return torch.zeros(1, device="cuda").item()  # expect: SYN101 (step)
        # reached: step > Greedy.sample


def bound(n):
    return torch.zeros(n, device="cuda").sum().item()  # expect: SYN101 (step)
    # reached: step > bound


def never(n):
    return torch.zeros(n, device="cuda").sum().item()  # expect: SYN101 (unknown)


@torch.inference_mode()
def step():
    sampler = Sampler()
    sampler.sample()
    functools.partial(bound, 3)()
    return sampler.count  # expect: SYN501 (step)
