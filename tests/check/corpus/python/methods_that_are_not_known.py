"""A method of a base that is not in the project gives what is not known."""

from collections import UserDict

import torch
from backend import Encoding


class Batch(Encoding):
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")


Batch().rows.tolist()  # expect: SYN102
Batch().to("cuda").rows.tolist()  # silent
Batch().half().rows.tolist()  # silent
batch = Batch()
batch.to("cuda")
batch.rows.tolist()  # expect: SYN102
for name, rows in batch.items():
    rows.tolist()  # silent
moved = batch.to("cuda")
moved.tolist()  # silent


class Table(UserDict):
    def total(self):
        return self["rows"].sum().item()  # silent


def of_an_operator(operator, x: torch.Tensor):
    found = operator.adjoint(x.cuda()[0])
    found = operator.adjoint(found)
    return x.cuda().tolist()  # expect: SYN102
