"""One of two functions, classes or modules: each gets what is passed."""

import numpy as np
import torch


def left(t):
    return t.item()  # expect: SYN101


def right(t):
    return t.tolist()  # expect: SYN102


class A:
    def __init__(self, t):
        self.t = t

    def read(self):
        return self.t.item()  # expect: SYN101


class B:
    def __init__(self, t):
        self.t = t

    def read(self):
        return self.t.item()  # expect: SYN101


def run(fast: bool):
    gpu = torch.ones(1, device="cuda")
    (left if fast else right)(gpu)
    kind = A if fast else B
    kind(gpu).t.item()  # expect: SYN101
    xp = torch if fast else np
    xp.zeros(3).tolist()  # silent
    reader = A(gpu).read if fast else B(gpu).read
    return reader()
