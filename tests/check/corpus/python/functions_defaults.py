"""A default is what a parameter may be besides what is passed."""

import torch


def device_default(n: int, device="cuda"):
    return torch.zeros(n, device=device).tolist()  # expect: SYN102


def none_default(t=None):
    t = torch.ones(1, device="cuda") if t is None else t
    return t.item()  # expect: SYN101


def tensor_default(t=torch.ones(1, device="cuda")):  # noqa: B008
    return t.item()  # expect: SYN101


def flag_default(pinned=True, n=4):
    torch.zeros(n, pin_memory=pinned).to("cuda", non_blocking=True)  # silent
    torch.ones(4, pin_memory=True).to("cuda", non_blocking=pinned)  # silent
    return torch.zeros(4, device="cuda")[n]  # silent


def number_default(index=0):
    torch.zeros(8, device="cuda")[index] = 1.0  # expect: SYN306


def both(device="cpu"):
    return torch.zeros(3, device=device).tolist()  # expect: SYN102 (inferred)


none_default(torch.ones(1))
flag_default(pinned=False)
both(device="cuda")
