"""A function that a class body takes under a name is a method: the object is its first argument."""

import torch


def read(model, rows):
    rows.tolist()  # expect: SYN102
    return model.scale.item()  # expect: SYN101


def plain(rows):
    return rows.tolist()  # expect: SYN102


class Model:
    read = read
    last = lambda self, rows: (self.scale, rows[-1].item())  # expect: SYN101

    def __init__(self):
        self.scale = torch.ones((), device="cuda")
        self.plain = plain


class Host:
    read = staticmethod(len)


model = Model()
model.read(torch.ones(3, device="cuda"))
model.last(torch.ones(3, device="cuda"))
model.plain(torch.ones(3, device="cuda"))
