"""Functions of torch on what may be None, and indices made of lists."""

import torch


def run(n: int):
    gpu = torch.ones(8, device="cuda")
    one = gpu if n else None
    one.view(-1).tolist()  # expect: SYN102
    torch.reshape(one, (-1,)).tolist()  # expect: SYN102
    torch.cumsum(one, 0).tolist()  # expect: SYN102
    torch.softmax(one, 0).tolist()  # expect: SYN102
    gpu[[0, 1]][0] = 1.0  # expect: SYN305, SYN306
    rows = torch.ones((8, 4), device="cuda")
    rows[[0, 1]][0] = 1.0  # expect: SYN305
    rows[[0, 1]][0, 1] = 1.0  # expect: SYN305, SYN306
    between = 0 < gpu.sum() < 2  # expect: SYN104
    return between
