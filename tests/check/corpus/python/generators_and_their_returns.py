"""What a generator returns is no item of it; a bare yield gives None."""

from contextlib import contextmanager

import torch


def rows(n: int):
    yield torch.ones(n)
    return torch.ones(n, device="cuda")


def bare():
    yield


@contextmanager
def scope():
    yield


for row in rows(3):
    row.tolist()  # silent
for nothing in bare():
    nothing.item()  # silent
with scope() as inside:
    inside.item()  # silent


class Loader:
    def __init__(self):
        self.rows = [torch.ones(1, device="cuda")]

    def __iter__(self):
        for row in self.rows:
            yield row

    def read(self):
        for row in self:
            row.tolist()  # expect: SYN102
