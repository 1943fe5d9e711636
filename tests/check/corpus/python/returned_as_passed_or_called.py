"""`default(a, b)` returns one of its arguments, or the result of one: of this call, not of others."""

import torch


def default(value, fallback):
    if value is not None:
        return value
    return fallback() if callable(fallback) else fallback


def called(make):
    return make()


class Diffusion:
    def __init__(self, steps: int, sampling=None):
        self.sampling = default(sampling, steps)
        self.is_fast = self.sampling < steps
        if self.is_fast:  # silent
            self.steps = steps

    def draw(self, t=None):
        t = default(t, lambda: torch.ones(3, device="cuda"))
        if t.sum() > 3:  # expect: SYN104
            return called(lambda: torch.ones(1, device="cuda")).tolist()  # expect: SYN102
        return called(lambda: torch.ones(1)).tolist()  # silent

    def either(self, on_gpu):
        x = default(None, torch.ones(1, device="cuda"))
        return x.tolist(), default(None, torch.ones(1)).tolist()  # expect: SYN102 `x.tolist()`


def made(x, factory):
    if factory is not None:
        return factory()
    return x


def made_either(x, factory):
    return factory() if factory else x


def on_gpu():
    return torch.ones(3, device="cuda")


def use():
    made_either(torch.ones(3), on_gpu).tolist()  # expect: SYN102
    made(torch.ones(3), None).tolist()  # silent
    return made(torch.ones(3), on_gpu).tolist()  # expect: SYN102
