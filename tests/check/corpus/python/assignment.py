"""A name is what was assigned to it last; an alias is the same tensor."""

import torch


def step():
    lens = torch.ones(4)
    lens.sum().item()  # silent
    lens = torch.ones(4, device="cuda")
    lens.sum().item()  # expect: SYN101 (proved)
    first = second = lens
    first.tolist()  # expect: SYN102
    second.tolist()  # expect: SYN102
    lens = 4
    lens.bit_length()  # silent
    lens: torch.Tensor = torch.ones(4)
    lens.tolist()  # silent
    rows: torch.Tensor
    del first
    return rows, second
