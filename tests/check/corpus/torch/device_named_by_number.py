"""A device may be named by the number of a GPU, such as the local rank."""

import torch


def on(device):
    return torch.zeros(3, device=device)


def run(rank: int):
    on("cpu").sum().item()  # silent
    return on(rank).sum().item()  # expect: SYN101


def accelerator():
    torch.zeros(3, device=torch.accelerator.current_device_index()).sum().item()  # expect: SYN101
    torch.zeros(3, device=torch.accelerator.current_accelerator()).sum().item()  # expect: SYN101
    torch.zeros(torch.accelerator.device_count()).sum().item()  # silent
