"""Iteration does not wait; what it yields is where the whole is."""

import torch


def run(rows: torch.Tensor):
    lens = torch.ones(8, device="cuda")
    for value in lens:  # silent
        value.item()  # expect: SYN101
    for index, value in enumerate(lens):
        value.item()  # expect: SYN101
        torch.ones(8)[index].item()  # silent
    for number in range(4):
        torch.zeros(8)[number].item()  # silent
    for a, b in zip(lens, torch.ones(8)):
        a.item()  # expect: SYN101
        b.item()  # silent
    for value in reversed([lens, lens]):
        value.tolist()  # expect: SYN102
    for value in (torch.ones(4), torch.ones(5)):
        value.tolist()  # silent
