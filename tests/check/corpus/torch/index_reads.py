"""What an index is made of decides whether a read waits."""

import numpy as np
import torch


def run(n: int, flags: list[bool]):
    rows = torch.zeros((8, 4), device="cuda")
    mask = torch.zeros(8, dtype=torch.bool, device="cuda")
    index = torch.arange(3, device="cuda")
    rows[0], rows[n], rows[-1, 2], rows[:n], rows[..., None], rows[1:n:2]  # silent
    rows[index], rows[index, 0], rows[None, index]  # silent
    rows[mask]  # expect: SYN201
    rows[mask, :2]  # expect: SYN201
    rows[rows > 0]  # expect: SYN201
    rows[~mask & mask]  # expect: SYN201
    rows[mask.scatter(0, index, True)], rows[mask.gather(0, index)]  # expect: SYN201, SYN201
    rows[index[0]]  # expect: SYN106
    rows[: index[0]]  # expect: SYN106
    rows[[0, 1]]  # expect: SYN305
    rows[:, [0, 1]]  # expect: SYN305
    rows[flags]  # expect: SYN305
    rows[np.arange(3)]  # expect: SYN305
    rows[torch.arange(3)]  # expect: SYN305
    rows[torch.ones(8) > 0]  # silent: counted on the host, uploaded without a wait
    host = torch.zeros(8)
    host[[0, 1]], host[host > 0], host[torch.arange(3)]  # silent
    return [row[index[0]] for row in [rows]]  # expect: SYN106
