"""A module of the project may be one by its base's base."""

import torch


class Base(torch.nn.Module):
    def add_table(self, n: int):
        self.register_buffer("table", torch.zeros(n), persistent=False)


class Layer(Base):
    def __init__(self):
        super().__init__()
        self.add_table(4)

    def read(self):
        return self.table.tolist()  # expect: SYN102


class NoModule:
    def __init__(self):
        self.register_buffer("table", torch.zeros(4))

    def register_buffer(self, name, value):
        setattr(self, name, value)

    def read(self):
        return self.table.tolist()  # silent
