"""A test for None tells the paths apart."""

import torch


class Cache:
    def __init__(self):
        self.rows = None

    def fill(self):
        self.rows = torch.ones(4, device="cuda")

    def read(self, other=None):
        if self.rows is None:
            return None
        self.rows.tolist()  # expect: SYN102
        if other is None:
            other = torch.ones(4)
        other.tolist()  # silent
        if not self.rows is None and len(self.rows):
            self.rows.sum().item()  # expect: SYN101
        if self.rows != None:  # noqa: E711 (this program tests the operator)
            self.rows.sum().item()  # expect: SYN101
        rows = self.rows
        return rows.tolist() if rows is not None else None  # expect: SYN102


def find(n: int):
    return torch.ones(n, device="cuda") if n else None


def neither(n: int):
    found = find(n)
    if found is not None:
        if found.is_cuda:
            return found.tolist()  # expect: SYN102
        return found.tolist()  # silent: it is neither None nor on the GPU
    return found


def none_for_sure(n: int):
    found = find(n)
    if found is None:
        found = torch.ones(n)
    return found.tolist()  # expect: SYN102
