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
    # because: sixth: `f` of `six` is passed here
    # because: fifth: `e` of `five` is passed here
    # because: fourth: `d` of `four` is passed here
    # because: third: `c` of `three` is passed here
    # because: second: `b` of `two` is passed here
    # because: made: `torch.ones(1, device="cuda")` puts it there


t = torch.ones(1, device="cuda")  # at: made
one(t)
