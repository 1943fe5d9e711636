"""An object is called through its `__call__`."""

import torch


class Scale:
    def __init__(self):
        self.factor = torch.ones(1, device="cuda")

    def __call__(self, t):
        return t * self.factor


class Reader:
    def __call__(self, t):
        return t.item()  # expect: SYN101


class Held:
    def __init__(self):
        self.scale = Scale()

    def run(self, t):
        return self.scale(t).tolist()  # expect: SYN102


scale = Scale()
scale(torch.ones(4)).tolist()  # expect: SYN102
Reader()(torch.ones(1, device="cuda"))
Held().run(torch.ones(4))
