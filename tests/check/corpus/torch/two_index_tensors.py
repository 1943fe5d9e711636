"""Two index tensors read one dimension."""

import torch


def run():
    rows = torch.zeros((8, 4), device="cuda")
    i, j = torch.arange(2, device="cuda"), torch.arange(2, device="cuda")
    picked = rows[i, j]
    picked[0] = 1.0  # todo: SYN306
    row = rows[i, 0]
    row[0] = 1.0  # expect: SYN306
    rows[i][0] = 1.0  # silent: a row is filled
    rows[i][0, 0] = 1.0  # expect: SYN306
    return picked
