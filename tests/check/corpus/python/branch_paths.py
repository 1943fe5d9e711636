"""After a branch a value is what either side made it; a side that left does not count."""

import torch


def both(fast: bool):
    if fast:
        t = torch.ones(1, device="cuda")
    else:
        t = torch.ones(1)
    t.item()  # expect: SYN101 (inferred)


def one_left(fast: bool):
    if fast:
        t = torch.ones(1, device="cuda")
        return t
    else:
        t = torch.ones(1)
    t.item()  # silent


def either(kind: int):
    if kind == 1:
        t = torch.ones(1)
    elif kind == 2:
        t = torch.ones(2)
    else:
        return None
    t.tolist()  # silent
    u = torch.ones(1) if kind else torch.ones(1, device="cuda")
    u.item()  # expect: SYN101 (inferred)
    v = None or torch.ones(1, device="cuda")
    return v.item()  # expect: SYN101
