"""Tuples are unpacked part by part, as far as their lengths are known."""

import torch


def pair():
    return torch.ones(4), torch.ones(4, device="cuda")


def run(batches):
    host, gpu = pair()
    host.tolist()  # silent
    gpu.tolist()  # expect: SYN102
    (a, (b, c)) = gpu, (host, gpu)
    a.item()  # expect: SYN101
    b.item()  # silent
    c.item()  # expect: SYN101
    first, *rest = gpu, host, host
    first.item()  # expect: SYN101
    rest[0].item()
    [d, e] = [host, gpu]
    d.item()  # silent
    e.item()  # expect: SYN101
    host, gpu = gpu, host
    host.item()  # expect: SYN101
    gpu.item()  # silent
    row, column = torch.ones((2, 4), device="cuda")
    return column.tolist()  # expect: SYN102
