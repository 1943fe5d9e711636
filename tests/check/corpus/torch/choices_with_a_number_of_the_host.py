"""`torch.where` takes a tensor of the host only if it has no dimensions, and copies it to the GPU."""

import torch


def choose(value, at):
    mask = torch.ones(4, device="cuda") > 0
    row = torch.ones(4, device="cuda")
    number, host = torch.ones(()), torch.ones(4)
    torch.where(mask, row, number)  # expect: SYN302
    torch.where(mask, number, row)  # expect: SYN302
    torch.where(mask, row, torch.tensor(value))  # expect: SYN302
    torch.where(mask, row, host[at])  # expect: SYN302
    torch.where(torch.tensor(True), row, row)  # expect: SYN302
    torch.where(torch.tensor(True), 0.0, row)  # expect: SYN302
    torch.where(mask, row, 0.0)
    return torch.where(mask, row, row)
