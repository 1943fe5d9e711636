"""An item of an array of one dimension is a number, and indexes without a copy; a part of it is an array."""

import numpy as np
import torch


def use(lists, sizes):
    x = torch.ones(4, 4, device="cuda")
    numbers = np.arange(4)
    x[numbers[0]]  # silent
    x[np.repeat(sizes, 2)[1]]  # silent
    x[np.fromiter(lists, dtype=np.int64)[0]]  # silent
    x[numbers[1:]]  # expect: SYN305
    return x[numbers]  # expect: SYN305


def elements_of_an_array(rows: np.ndarray, table: torch.Tensor, n: int):
    scores = torch.zeros(4, 4, device="cuda")
    for i in range(n):
        scores[rows[i], 2:3] = 1.0  # silent
        scores[rows[1:3]]  # expect: SYN305
    return scores[rows]  # expect: SYN305


def indices(a: np.ndarray):
    x = torch.ones(4, 4, device="cuda")
    lower = np.tril_indices(4)
    x[lower[0], lower[1]]  # expect: SYN305
    return x[a.nonzero()[0]]  # expect: SYN305
