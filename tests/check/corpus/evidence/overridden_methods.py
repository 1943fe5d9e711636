"""The evidence of what an overridden method returns follows the arguments of the same call, and of no other call."""

import torch


class Base:
    def make(self, x):
        return x

    def run(self, x):
        return self.make(x)  # at: run


class Derived(Base):
    def make(self, y):
        return y * 2  # at: make


def first():
    p = torch.zeros(3, device="cuda")  # at: zeros
    return Derived().run(p).item()  # expect: SYN101 # at: first
    # because: run: `Base.run` returns the value
    # because: make: `Derived.make` returns the value
    # because: run: a call site passes `x` to `Base.make`
    # because: first: a call site passes `x` to `Base.run`
    # because: zeros: `torch.zeros(3, device="cuda")` places the tensor on the GPU


def second(b: Base):
    p = torch.ones(3, device="cuda")  # at: ones
    return b.make(p).item()  # expect: SYN101 # at: second
    # because: make: `Derived.make` returns the value
    # because: second: a call site passes `x` to `Base.make`
    # because: ones: `torch.ones(3, device="cuda")` places the tensor on the GPU
