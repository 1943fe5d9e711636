"""A chain names at most six steps: the nearest, and the one where it began."""

import torch


def one(a):
    return two(a)  # at: second


def two(b):
    return three(b)  # at: third


def three(c):
    return four(c)  # at: fourth


def four(d):
    return five(d)  # at: fifth


def five(e):
    return six(e)  # at: sixth


def six(f):
    return f.tolist()  # expect: SYN102 (inferred)
    # because: sixth: a call site passes `f` to `six`
    # because: fifth: a call site passes `e` to `five`
    # because: fourth: a call site passes `d` to `four`
    # because: third: a call site passes `c` to `three`
    # because: second: a call site passes `b` to `two`
    # because: made: `torch.ones(1, device="cuda")` places the tensor on the GPU


t = torch.ones(1, device="cuda")  # at: made
one(t)
