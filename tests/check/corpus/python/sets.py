"""Set operations keep what the sets hold."""

import torch


def run():
    gpu, host = {torch.ones(1, device="cuda")}, {torch.ones(1)}
    for t in gpu.union(host):
        t.item()  # expect: SYN101
    for t in gpu.difference(host):
        t.item()  # expect: SYN101
    for t in gpu.intersection(gpu):
        t.item()  # expect: SYN101
    for t in host.union(host):
        t.item()  # silent
    for t in host.copy():
        t.item()  # silent
    grown = {torch.ones(1)}
    grown.update(gpu)
    return [t.item() for t in grown]  # expect: SYN101
