"""An object may store a function in place of a method of its class; a call runs the one or the other."""

import functools

import torch


class Generator:
    def __init__(self, fast: bool):
        self.x = torch.ones(3, device="cuda")
        self.first = torch.ones(1)
        if fast:
            self.next_token = self.next_token_of_graphs
            self.sized = self.unsized
            self.unsized = self.sized
            self.again = functools.partial(self.again, 3)

    def next_token(self, t):
        return [t]

    def next_token_of_graphs(self, t):
        t.tolist()  # expect: SYN102
        return self.x * 2

    def sized(self):
        return self.first

    def unsized(self):
        return self.first

    def again(self, n):
        return self.first

    def run(self):
        t = self.next_token(self.x)
        self.sized().tolist()  # silent
        self.again(2).tolist()  # silent
        return t.tolist()  # expect: SYN102


def measured(x):
    return torch.ones(3, device="cuda") * x


class Patched:
    def __init__(self):
        self.measure = measured

    def measure(self, x):
        return x

    def run(self):
        return self.measure(3).tolist()  # expect: SYN102


class Timed:
    def __init__(self):
        self.plain_step = self.step
        self.step = self.timed_step

    def step(self, x):
        return torch.ones(3)

    def timed_step(self, x):
        return self.plain_step(x).cuda()  # expect: SYN302

    def run(self):
        self.plain_step(1).tolist()  # silent
        self.step(1).tolist()  # expect: SYN102


class Lent:
    def get(self):
        return torch.ones(3, device="cuda")


class Borrower:
    def __init__(self, lent: Lent):
        self.get = lent.get

    def get(self):
        return torch.ones(3)

    def run(self):
        return self.get().tolist()  # expect: SYN102
