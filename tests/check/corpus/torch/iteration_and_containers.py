"""A tensor is iterated over without a wait; a list of its rows is a list on the GPU."""

import torch


def run():
    rows = torch.ones((4, 2), device="cuda")
    listed = list(rows)  # silent
    listed[0].tolist()  # expect: SYN102
    chosen = [row for row in rows]  # silent
    chosen[0].tolist()  # expect: SYN102
    pairs = list(zip(rows, [1, 2, 3, 4]))
    pairs[0][0].tolist()  # expect: SYN102
    torch.zeros(4)[pairs[0][1]].item()  # silent
    by_index = dict(enumerate(rows))
    by_index[0].tolist()  # expect: SYN102
    a, b, c, d = rows
    return a.tolist()  # expect: SYN102
