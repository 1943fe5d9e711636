"""A list of slices is an index like a tuple of them; a list of numbers is uploaded."""

import torch


def run(n: int, rows: list[slice], numbers: list[int]):
    gpu = torch.ones((4, 4), device="cuda")
    where = [slice(None)] + [slice(i, n) for i in range(n)]
    gpu[where]  # silent
    gpu[where] = 0  # silent
    gpu[rows]  # silent
    gpu[[slice(None), 0]]  # silent
    gpu[[0, 1]]  # expect: SYN305
    return gpu[numbers]  # expect: SYN305
