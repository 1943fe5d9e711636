"""Statements under `if __name__ == "__main__"` run once, except those in loops; their callees may hold a loop of steps."""

import torch


def work(x):
    return x.cuda().sum().item()  # expect: SYN101 (unknown), SYN302 (unknown)


if __name__ == "__main__":
    x = torch.ones(4, device="cuda")
    print(x.sum().item())  # expect: SYN101 (once)
    work(torch.ones(4))
    with torch.no_grad():
        print(x.sum().item())  # expect: SYN101 (once)
        for _ in range(8):
            print(x.sum().item())  # expect: SYN101 (unknown)
