"""`torch.add` and the like change no container, in a loop either."""

import torch

kept = set()


def run(x: torch.Tensor, n: int):
    total = torch.zeros(3, device="cuda")
    for _ in range(n):
        total = torch.add(total, x.cuda())
        total = torch.sort(total).values
        kept.add(3)
        print(total.sum().item())  # expect: SYN101
    return torch.add(total, 1)


run(torch.zeros(3, device="cuda"), 4)
