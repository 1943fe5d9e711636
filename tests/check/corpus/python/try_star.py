# python: 3.11
"""`except*` is followed as `except` is."""

import torch


def run():
    t = torch.ones(1)
    try:
        t = torch.ones(1, device="cuda")
    except* ValueError:
        t.item()  # expect: SYN101
    t.item()  # expect: SYN101
