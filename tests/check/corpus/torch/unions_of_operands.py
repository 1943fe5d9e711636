"""Only the tensor of a union is an operand: an operation takes no list for one."""

import torch


def rows(n):
    return torch.ones(n, device="cuda") if n else [1.0, 2.0]


def same(n):
    x, y = rows(n), torch.ones(2, device="cuda")
    if torch.equal(x, y):  # expect: SYN103
        return x
    return torch.equal(y, [1.0])  # expect: SYN103


def on_the_host(n):
    x = torch.ones(n) if n else [1.0, 2.0]
    return torch.equal(x, torch.ones(2))  # silent


def uploads(scale: float | torch.Tensor, mask=None):
    x = torch.ones(2, device="cuda")
    mask = [True] if mask is None else x > 0
    torch.as_tensor(scale, device="cuda")  # expect: SYN301
    torch.as_tensor(mask, device="cuda")  # expect: SYN301
    torch.as_tensor(x, device="cuda")  # silent
