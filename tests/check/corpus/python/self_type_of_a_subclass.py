"""What a method of the base returns, called on a subclass, is of that subclass."""

import torch


class Base:
    def reset(self):
        return self

    def other(self):
        return Gpu()


class Gpu(Base):
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")


class Host(Base):
    def __init__(self):
        self.rows = torch.ones(4)


Gpu().reset().rows.tolist()  # expect: SYN102
Host().reset().rows.tolist()  # silent
Host().other().rows.tolist()  # expect: SYN102
Base.reset(Host()).rows.tolist()  # silent
