"""`__new__` gets the class, and the object is made by `__init__`."""

import torch


class Shared:
    _one = None

    def __new__(cls, size):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __init__(self, size):
        self.rows = torch.zeros(size, device="cuda")

    def read(self):
        return self.rows.tolist()  # expect: SYN102


Shared(4).rows.sum().item()  # expect: SYN101
