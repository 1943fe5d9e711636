"""A method of a subclass and one of its base see the same attributes."""

import torch


class Base:
    def __init__(self):
        self.lens = torch.zeros(4, device="cuda")
        self.setup()

    def setup(self):
        self.rows = None

    def read_rows(self):
        return self.rows.tolist()  # expect: SYN102


class Runner(Base):
    def setup(self):
        self.rows = torch.ones(4, device="cuda")

    def read(self):
        return self.lens.tolist()  # expect: SYN102


class Other:
    def __init__(self):
        self.lens = torch.zeros(4)

    def read(self):
        return self.lens.tolist()  # silent
