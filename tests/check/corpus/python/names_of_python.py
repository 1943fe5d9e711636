"""A name of Python that the module takes for its own is its own."""

import torch


def int(t):  # noqa: A001
    return t


def run():
    t = torch.ones((), device="cuda")
    int(t)  # silent: the module's own
    float(t)  # expect: SYN103
    len = lambda t: t.item()  # noqa: A001, E731 # expect: SYN101
    len(t)
    undefined_name(t)  # noqa: F821 # silent
    return sorted(t, key=None)  # expect: SYN104
