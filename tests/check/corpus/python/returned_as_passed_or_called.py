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
