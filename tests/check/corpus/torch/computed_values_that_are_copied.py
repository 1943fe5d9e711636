"""Nobody copies to the host what is there, so a computed value that is copied is on the GPU, whatever its operands are."""

import torch


def scaled(lengths, x):
    return (lengths * x.size(1)).cpu()  # expect: SYN105


def compared(x, y):
    return (x > y).cpu()  # expect: SYN105


def joined(a, b):
    c = a + b
    return c.to("cpu")  # expect: SYN105


def kept(a, b):
    return a * b  # silent


class Boxes:
    def __init__(self, t):
        self.t = t

    def __add__(self, other):
        return Boxes(self.t + other.t)

    def cpu(self):
        return Boxes(self.t.cpu())  # silent


def of_objects():
    a, b = Boxes(torch.ones(3)), Boxes(torch.ones(3))
    c = a + b
    c.cpu()  # silent
    return c.t.tolist()  # silent
