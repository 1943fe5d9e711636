"""Keys are evaluated as values are, and pairs are joined part by part."""

import torch


def run(flag: bool, names: list[str]):
    gpu, host = torch.ones(2, device="cuda"), torch.ones(2)
    counts = {t.item(): 1 for t in gpu}  # expect: SYN101
    table = {gpu.sum().item(): 1, "b": 2}  # expect: SYN101
    unique = {t.item() for t in gpu}  # expect: SYN101
    merged = {**{gpu.max().item(): 1}}  # expect: SYN101
    pair = (host, gpu) if flag else (host, host)
    pair[0].tolist()  # silent
    pair[1].tolist()  # expect: SYN102
    a, b = pair
    a.tolist()  # silent
    b.tolist()  # expect: SYN102
    longer = (host, gpu) if flag else (host, host, host)
    longer[2].tolist()  # false: SYN102
    return counts, table, unique, merged
