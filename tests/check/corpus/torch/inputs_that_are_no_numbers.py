"""An operation that takes no number for its input has a tensor there, also where other callers pass numbers."""

import torch


def counts(labels):
    return torch.bincount(labels)  # expect: SYN206


def distinct(labels):
    return torch.unique(labels)  # expect: SYN204


def positive(x):
    return x[x > 0].tolist()  # expect: SYN102


def nothing(labels):
    return torch.unique(labels)  # silent


def step():
    labels = torch.ones(3, device="cuda")
    return counts(labels), distinct(labels), positive(labels)


def others():
    nothing(3)
    nothing(torch.ones(3))
    return counts(3), distinct(None), distinct(4), positive(2.0), positive([1])
