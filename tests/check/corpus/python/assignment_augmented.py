"""`+=` works in place on a tensor, which stays where it is."""

import torch


def accumulate(losses: list[float]):
    total = torch.zeros((), device="cuda")
    for loss in losses:
        total += loss
    total.item()  # expect: SYN101
    host = torch.zeros(4)
    host -= 1
    host.tolist()  # silent
    table = torch.zeros((8, 4), device="cuda")
    table[0] += 1.0  # silent: a fill
    table[[0, 1]] += 1.0  # expect: SYN305
    counts = torch.zeros(8, device="cuda")
    counts[torch.arange(3, device="cuda")] += 1  # silent: what is stored is a tensor on the GPU
    number = 1
    number += total  # silent
    return number.item()  # expect: SYN101
