"""A value that is one of several things: what they have in common is found, and no more."""

import numpy as np
import torch


class Left:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")

    def get(self):
        return self.rows


class Right:
    def __init__(self):
        self.rows = torch.ones(4, device="cuda")

    def get(self):
        return self.rows + 1


def run(fast: bool):
    either = Left() if fast else Right()
    either.rows.tolist()  # expect: SYN102
    either.get().tolist()  # expect: SYN102
    number = torch.ones((), device="cuda") if fast else 1.0
    number.item()  # expect: SYN101
    float(number)  # silent: it may be a number
    (number + torch.ones(4, device="cuda")).tolist()  # expect: SYN102
    (number + 1).item()  # expect: SYN101
    (number > 1).item()  # expect: SYN101
    if number > 1:  # silent
        pass
    array = np.ones(4) if fast else [1, 2]
    torch.zeros(8, device="cuda")[array]  # expect: SYN305
    torch.tensor(array, device="cuda")  # expect: SYN301
    index = torch.arange(2) if fast else [0, 1]
    torch.zeros(8, device="cuda")[index]  # todo: SYN305
    rows = [torch.ones(4, device="cuda")] if fast else (torch.ones(4, device="cuda"),)
    rows[0].tolist()  # expect: SYN102
    for row in rows:
        row.tolist()  # expect: SYN102
    pair = (torch.ones(1, device="cuda"), 1) if fast else None
    a, b = pair
    a.item()  # expect: SYN101
    torch.zeros(8, device="cuda")[b] = 1  # expect: SYN306
    upload = torch.ones(4) if fast else np.ones(4)
    return torch.as_tensor(upload, device="cuda")  # expect: SYN301


class Rows:
    def get_names(self):
        return self.__dict__.keys()


def rows_like(given):
    return torch.zeros(4, device="cuda") if given else Rows()


def named(given, name):
    rows = rows_like(given)
    rows.tolist()  # todo: SYN102
    return name in rows.get_names()  # silent: no tensor has that method
