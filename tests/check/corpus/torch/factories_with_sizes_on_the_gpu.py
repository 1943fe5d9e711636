"""A size is a number: one that is on the GPU is read."""

import torch


def run():
    n = torch.ones((), dtype=torch.int64, device="cuda")
    torch.zeros(n)  # expect: SYN106
    torch.zeros((n, 4))  # expect: SYN106
    torch.arange(n, device="cuda")  # expect: SYN106
    torch.full((4,), n, device="cuda")  # expect: SYN106
    torch.ones(4, device="cuda").view(n, -1)  # expect: SYN106
    torch.ones(4, device="cuda").expand(n)  # expect: SYN106
    torch.ones(4, device="cuda").new_zeros(n)  # expect: SYN106
    torch.zeros(torch.ones(3, device="cuda").shape[0])  # silent: a shape is known to the host
    torch.topk(torch.ones(4, device="cuda"), n)  # expect: SYN106
    torch.zeros_like(n)  # silent
    for _ in range(n):  # expect: SYN106 `range(n)`
        pass
