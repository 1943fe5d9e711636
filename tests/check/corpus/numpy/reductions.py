"""A reduction of an array over everything is a number, along an axis an array."""

import numpy as np
import torch


def run(a: np.ndarray, rows: list):
    gpu = torch.zeros(8, device="cuda")
    gpu[a.sum()] = a.max()  # expect: SYN306
    gpu[a.max()] = a.min()  # expect: SYN306
    gpu[a.min()] = a.mean()  # expect: SYN306
    gpu[0] = a.mean()  # expect: SYN306
    gpu[0] = a.prod()  # expect: SYN306
    gpu[0] = a.any()  # expect: SYN306
    gpu[0] = a.all()  # expect: SYN306
    gpu[0] = a.argmax()  # expect: SYN306
    gpu[0] = a.argmin()  # expect: SYN306
    gpu[0] = a.std()  # expect: SYN306
    gpu[a.argmax(axis=0)]  # expect: SYN305
    gpu[a.argmin(0)]  # expect: SYN305
    gpu[a.fill(0)], gpu[a.sort()], gpu[a.setflags()], gpu[a.resize(3)]  # silent: they give None
    gpu[a.__len__()] = 1  # expect: SYN306
    gpu[a.__int__()] = 1  # expect: SYN306
    gpu[rows.index(a)] = 1  # expect: SYN306
    gpu[rows.count(a)] = 1  # expect: SYN306
    return gpu[a.ravel()]  # expect: SYN305
