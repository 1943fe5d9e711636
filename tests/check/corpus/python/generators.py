"""A generator yields to the loop that runs over it; what is sent to it is not known."""

import torch


def batches(n: int):
    for _ in range(n):
        yield torch.ones(4, device="cuda")


def pairs(n: int):
    yield torch.ones(4), torch.ones(4, device="cuda")
    yield from ((torch.ones(4), torch.ones(4, device="cuda")) for _ in range(n))


def echo():
    got = yield torch.ones(1)
    got.item()  # silent


for batch in batches(2):
    batch.tolist()  # expect: SYN102
for host, gpu in pairs(2):
    host.tolist()  # silent
    gpu.tolist()  # expect: SYN102
first = next(batches(1))
first.tolist()  # expect: SYN102
