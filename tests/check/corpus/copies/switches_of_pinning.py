"""A function that returns a constant or something unknown decides at run time whether memory is pinned."""

import torch
from backend import platform


def is_pin_memory_available(device) -> bool:
    if platform.is_confidential():
        return False
    return platform.is_pin_memory_available(device)


def never_pins(device) -> bool:
    return False


def upload(rows, device):
    pin = is_pin_memory_available(device)
    torch.tensor(rows, pin_memory=pin).to("cuda", non_blocking=True)  # silent
    torch.tensor(rows, pin_memory=platform.pins).to("cuda", non_blocking=True)  # silent
    pin = never_pins(device)
    return torch.tensor(rows, pin_memory=pin).to("cuda", non_blocking=True)  # expect: SYN303
