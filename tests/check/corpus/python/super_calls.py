"""`super()` calls the next class's method, with the object itself."""

import torch


class Base:
    def __init__(self, size, device):
        self.lens = torch.zeros(size, device=device)

    def total(self, extra):
        extra.item()  # expect: SYN101
        return self.lens.sum()


class Runner(Base):
    def __init__(self, size):
        super().__init__(size, "cuda")

    def total(self, extra):
        total = super().total(extra)
        total.item()  # expect: SYN101
        return total

    def missing(self):
        return super().nothing().item()  # silent

    @classmethod
    def make(cls):
        def build():
            return super().total(torch.ones(1, device="cuda"))

        return build


Runner(3).total(torch.ones(1, device="cuda"))
