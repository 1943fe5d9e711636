"""Static methods get no object, class methods get the class."""

import torch


class Runner:
    device = "cuda"

    def __init__(self, lens):
        self.lens = lens

    @staticmethod
    def read(t):
        return t.item()  # expect: SYN101

    @staticmethod
    def second(a, b):
        a.item()  # silent
        return b.item()  # expect: SYN101

    @classmethod
    def make(cls, size):
        return cls(torch.zeros(size, device="cuda"))

    def longest(self):
        return self.lens.max().item()  # expect: SYN101


Runner.read(torch.ones(1, device="cuda"))
runner = Runner.make(4)
runner.lens.tolist()  # expect: SYN102
runner.second(torch.ones(1), torch.ones(1, device="cuda"))
make = Runner.make
make(4).lens.tolist()  # expect: SYN102
