"""`next`, `iter` and what else iterates run the special methods of objects."""

import torch


class Cycle:
    def __init__(self, things):
        self.things = things
        self.inner = None

    def __iter__(self):
        return self

    def __next__(self):
        if self.inner is None:
            self.inner = iter(self.things)
        return next(self.inner)


class Rows:
    def __iter__(self):
        for _ in range(3):
            yield torch.ones(3, device="cuda")


class Made:
    def __iter__(self):
        return Cycle([torch.ones(3, device="cuda")])


def use():
    cycle = Cycle([torch.ones(3, device="cuda")])
    next(cycle).tolist()  # expect: SYN102
    next(iter(Rows())).tolist()  # expect: SYN102
    next(iter(Made())).tolist()  # expect: SYN102
    sum(Rows()).tolist()  # expect: SYN102
    list(Rows())[0].tolist()  # expect: SYN102
    for number, (row, other) in enumerate(zip(Rows(), cycle)):
        row.tolist()  # expect: SYN102
        other.tolist()  # expect: SYN102
        number.tolist()  # silent
    for row in map(torch.neg, Rows()):
        row.tolist()  # expect: SYN102


class HostRows:
    def __iter__(self):
        yield torch.ones(3)


def on_the_host():
    for row in iter(HostRows()):
        row.tolist()  # silent
    next(iter([1, 2])).tolist()  # silent


class Items:
    def __getitem__(self, place):
        return torch.ones(3, device="cuda")


def items():
    next(iter(Items())).tolist()  # expect: SYN102
    for item in iter(Items()):
        item.tolist()  # expect: SYN102
