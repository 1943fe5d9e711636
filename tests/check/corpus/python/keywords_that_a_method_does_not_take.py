"""A call with a keyword that a method does not take runs another method of this name."""

import torch


class Compressed:
    def step(self, closure=None, grads=None):
        return grads.sum().item()


class Fused:
    def step(self, grads, scale=1.0):
        return grads.sum().item()  # expect: SYN101


class Open:
    def step(self, grads=None, **others):
        return grads.sum().item()  # expect: SYN101


def update(optimizer: Compressed | Fused | Open, grads: torch.Tensor):
    optimizer.step(grads=grads.cuda(), scale=2.0)


class Spread:
    def read(self, x, scale=1.0):
        return x.sum().item()  # expect: SYN101


def spread(x: torch.Tensor):
    more = {"other": 1}
    more.pop("other")
    Spread().read(x.cuda(), **more)
