"""Classes inside of functions, functions inside of methods."""

import torch


def run():
    class Local:
        def __init__(self):
            self.t = torch.ones(1, device="cuda")

        def read(self):
            return self.t.item()  # expect: SYN101

    def helper(t):
        return t.item()  # expect: SYN101

    helper(Local().t)
    return Local


class Outer:
    class Inner:
        def __init__(self, t):
            self.t = t

        def read(self):
            return self.t.item()  # expect: SYN101

    def step(self):
        def local(t):
            return t + self.offset

        self.offset = torch.ones(1, device="cuda")
        local(torch.ones(1)).item()  # expect: SYN101
        return Outer.Inner(torch.ones(1, device="cuda"))
