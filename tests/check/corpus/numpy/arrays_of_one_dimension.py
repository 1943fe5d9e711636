"""An item of an array of one dimension is a number, and indexes without a copy; a part of it is an array."""

import numpy as np
import torch


def use(lists, sizes):
    x = torch.ones(4, 4, device="cuda")
    numbers = np.arange(4)
    x[numbers[0]]  # silent
    x[np.repeat(sizes, 2)[1]]  # false: SYN305
    x[np.fromiter(lists, dtype=np.int64)[0]]  # silent
    x[numbers[1:]]  # expect: SYN305
    return x[numbers]  # expect: SYN305
