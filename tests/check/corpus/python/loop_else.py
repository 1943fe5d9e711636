"""The else of a loop does not run after a break."""

import torch


def search(rows: list[int]):
    found = torch.zeros(1, device="cuda")
    for row in rows:
        if row:
            break
    else:
        found = torch.zeros(1)
        found.item()  # silent
    found.item()  # expect: SYN101


def only_else(rows: list[int]):
    found = torch.zeros(1, device="cuda")
    for row in rows:
        if row:
            return found
    else:
        found = torch.zeros(1)
    return found.item()  # silent
