"""A helper that makes its result where its argument lives, or on the device that it is given."""

import torch


def stacked(tensors):
    out = torch.full((len(tensors), 4), 0, device=tensors[0].device)
    return out


def placed(n, device):
    return torch.zeros(n, device=device)


def run():
    stacked([torch.ones(4, device="cuda")]).sum().item()  # expect: SYN101
    stacked([torch.ones(4), torch.ones(4)]).sum().item()  # silent
    placed(3, "cuda").sum().item()  # expect: SYN101
    placed(3, "cpu").sum().item()  # silent
