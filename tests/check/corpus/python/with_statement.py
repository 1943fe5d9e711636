"""`with ... as x` binds what `__enter__` gives, or what a generator yields."""

from contextlib import contextmanager, nullcontext

import torch


class Buffer:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")

    def __enter__(self):
        return self.rows

    def __exit__(self, *exc):
        return None


class Scope:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")

    def __exit__(self, *exc):
        return None


@contextmanager
def leased(n: int):
    yield torch.ones(n, device="cuda")


def run():
    with Buffer() as rows, leased(3) as more:
        rows.tolist()  # expect: SYN102
        more.tolist()  # expect: SYN102
    with Scope() as scope:
        scope.rows.tolist()  # expect: SYN102
    with nullcontext():
        t = torch.ones(1, device="cuda")
    return t.item()  # expect: SYN101
