"""A nested function rebinds a variable of the outer one, and keeps its own locals to itself."""

import torch


def run():
    t = None
    kept = torch.zeros(3)

    def put():
        nonlocal t
        kept = torch.zeros(3, device="cuda")
        t = torch.zeros(3, device="cuda")
        return kept

    def read():
        return t.item()  # expect: SYN101

    put()
    if t is not None:
        t.item()  # expect: SYN101
    kept.item()  # silent
    return read
