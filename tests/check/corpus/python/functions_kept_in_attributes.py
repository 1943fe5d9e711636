"""A function that is kept in an attribute or a list is called through it."""

import torch


def read(t):
    return t.item()  # expect: SYN101


def other(t):
    return t.item()  # silent: only called where it is not known which


def make():
    return torch.ones(1, device="cuda")


class Loop:
    def __init__(self, get):
        self.get = get
        self.sink = None

    def run(self):
        self.sink = read
        self.sink(torch.ones(1, device="cuda"))
        return self.get().item()  # expect: SYN101


Loop(make).run()
handlers = {"read": read}
handlers["read"](torch.ones(1, device="cuda"))
makers = [make, make]
makers[0]().item()  # expect: SYN101
chosen = None
chosen(torch.ones(1, device="cuda"))  # silent
(3)(torch.ones(1, device="cuda"))  # silent
