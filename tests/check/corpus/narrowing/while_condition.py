"""What a while loop tested is known behind it, unless it was left by a break."""

import torch


def fetched():
    x = torch.zeros(1, device="cuda")
    while x.is_cuda:
        x = x.to("cpu", non_blocking=True)
    x.item()  # silent


def left(stop: bool):
    x = torch.zeros(1, device="cuda")
    while x.is_cuda:
        if stop:
            break
        x = x.to("cpu", non_blocking=True)
    x.item()  # expect: SYN101


def endless(stop: bool):
    x = torch.zeros(1)
    while True:
        if stop:
            x = torch.zeros(1, device="cuda")
            break
    x.item()  # expect: SYN101
