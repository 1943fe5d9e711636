"""What an index of several dimensions reads, and what a number of the GPU leaves."""

import numpy as np
import torch


def run(n: int):
    rows = torch.zeros((8, 4), device="cuda")
    best = rows.sum().long()
    row = rows[best]  # expect: SYN106
    row[0] = 1.0  # expect: SYN306
    grid = torch.zeros((2, 3), dtype=torch.int64, device="cuda")
    picked = rows[grid]
    picked[0, 0] = 1.0  # silent: a row is filled
    picked[0, 0, 0] = 1.0  # expect: SYN306
    flat = torch.ones(8, device="cuda")
    rows[flat.long().cpu()[0]]  # expect: SYN105
    torch.tensor(torch.ones(4), device="cuda")[0] = 1.0  # expect: SYN301, SYN306
    torch.tensor([1, 2, 3], device="cuda")[0] = 1.0  # expect: SYN301, SYN306
    torch.tensor(n, device="cuda")[...] = 1.0  # expect: SYN301
    rows[:, None][0, 0, 1] = 1.0  # expect: SYN306
    rows[rows.sum(dim=1).argmax(), 0] = 1.0  # expect: SYN106
    several = rows[0:2, [0, 1]]  # expect: SYN305
    several[0] = 1.0  # silent
    transposed = rows.transpose(0, 1)
    transposed[0] = 1.0  # silent
    chosen = rows[rows > 0]  # expect: SYN201
    chosen[0] = 1.0  # expect: SYN306
    host = torch.zeros((2, 3), dtype=torch.int64)
    rows[host[host > 0][0]]  # silent: one number of host memory is no index that is uploaded
    return np.zeros(3)
