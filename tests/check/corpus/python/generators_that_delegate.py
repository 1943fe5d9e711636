"""`yield from` yields what the other one yields."""

import torch


def outer(rows):
    yield from rows


def twice():
    yield from outer([torch.ones(1, device="cuda")])
    yield from (torch.ones(1),)


for row in outer([torch.ones(1, device="cuda")]):
    row.item()  # expect: SYN101
for row in twice():
    row.item()  # expect: SYN101
