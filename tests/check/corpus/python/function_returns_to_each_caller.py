"""A helper's lists, tuples and arrays go back to where each caller's arguments are."""

import numpy as np
import torch


def both(t):
    return t + 1, t - 1


def listed(tensors):
    return [t + 1 for t in tensors]


def on_device(n, device):
    return torch.zeros(n, device=device)


def of_array(data, n):
    return torch.as_tensor(data) + n


def run(where, rank: int):
    a, b = both(torch.ones(4))
    a.tolist(), b.tolist()  # silent
    c, d = both(torch.ones(4, device="cuda"))
    c.tolist(), d.tolist()  # expect: SYN102, SYN102
    listed([torch.ones(4)])[0].tolist()  # silent
    listed([torch.ones(4, device="cuda")])[0].tolist()  # expect: SYN102
    on_device(4, torch.device("cpu")).tolist()  # silent
    on_device(4, "cuda:1").tolist()  # expect: SYN102
    on_device(4, rank).tolist()  # expect: SYN102
    on_device(4, where).tolist()  # expect: SYN102 (inferred)
    of_array(np.zeros(4), 1).tolist()  # silent
    return of_array(torch.ones(4, device="cuda"), 1).tolist()  # todo: SYN102
