"""Subscripts, loops and operators in place run the special methods of objects, and pass their operands."""

import torch


class Tree:
    def __init__(self, size: int):
        self.rows = torch.zeros(size, device="cuda")

    def __getitem__(self, index):
        return self.rows[torch.unique(index)]  # expect: SYN204

    def __setitem__(self, index, value):
        self.rows[index] = float(value.sum())  # expect: SYN103, SYN306

    def __contains__(self, key):
        return key.item() > 3  # expect: SYN101

    def __add__(self, other):
        other.rows.tolist()  # todo: SYN102
        return self

    def __radd__(self, number):
        print(number)  # silent
        return self

    def __iadd__(self, step):
        step.cpu()  # expect: SYN105
        return self

    def __neg__(self):
        return self.rows

    def __lt__(self, other):
        return other.rows.sum()

    def __iter__(self):
        return Rows(self.rows)


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __next__(self):
        return self.rows[0]

    def __getitem__(self, index: int):
        return self.rows[index:]


def run():
    tree, other = Tree(8), Tree(8)
    where = torch.arange(3, device="cuda")
    tree[where].tolist()  # todo: SYN102
    Rows(where)[0].tolist()  # expect: SYN102
    tree[where] = torch.ones(3, device="cuda")
    (where[0] in tree)
    (tree + other).rows.tolist()  # todo: SYN102
    (2.0 + tree).rows.tolist()  # todo: SYN102
    tree += where
    (-tree).tolist()  # expect: SYN102
    if tree < other:  # todo: SYN104
        pass
    if tree:  # silent: an object is no tensor
        pass
    for row in tree:
        row.item()  # expect: SYN101


class Plain:
    """Without special methods, an operator of an object says nothing."""


def plain(one: Plain, other: Plain):
    (one + other).tolist()  # silent
    one[0].tolist()  # silent
    for each in one:
        each.tolist()  # silent


class Base:
    def __init__(self):
        self.scale = torch.ones(1, device="cuda")

    def read(self):
        return self.scale  # silent: only objects of a subclass run a property


class Below(Base):
    @property
    def scale(self):
        return self.kept.item()  # expect: SYN101

    def __init__(self):
        self.kept = torch.ones(1, device="cuda")


run()
plain(Plain(), Plain())
