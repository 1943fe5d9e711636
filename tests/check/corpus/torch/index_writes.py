"""What is stored, and through which index, decides whether a write waits."""

import numpy as np
import torch


def run(n: int):
    rows = torch.zeros((8, 4), device="cuda")
    flat = torch.zeros(8, device="cuda")
    mask = torch.zeros(8, dtype=torch.bool, device="cuda")
    index = torch.arange(3, device="cuda")
    value = torch.ones((), device="cuda")
    rows[0] = 1.0  # silent: a fill
    rows[:n] = 0  # silent
    rows[mask] = 0.0  # silent: masked_fill_ does not count
    rows[mask] = value  # expect: SYN201
    rows[index] = 0.0  # expect: SYN306
    rows[index] = torch.ones(4, device="cuda")  # silent
    flat[0] = 1.0  # expect: SYN306
    flat[n] = n  # expect: SYN306
    rows[1, 2] = 5  # expect: SYN306
    flat[0] = value  # silent
    rows[:, 0] = torch.ones(8)  # expect: SYN307
    rows[:, 0] = torch.ones(8, pin_memory=True)  # expect: SYN307
    rows[0] = np.zeros(4)  # silent: torch refuses an array
    rows[[0, 1]] = 0.0  # expect: SYN305
    rows[index[0]] = 0.0  # expect: SYN106
    rows[: index[0]] = 0.0  # expect: SYN106
    host = torch.zeros(8)
    host[0] = value  # expect: SYN105
    host[:4] = flat[:4]  # expect: SYN105
    host[0] = 1.0  # silent
