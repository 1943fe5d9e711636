"""What a pass of a loop makes is known at the start of the next one, and behind the loop."""

import torch


def decode(steps: int):
    tokens = torch.zeros(1)
    last = None
    for _ in range(steps):
        tokens.item()  # expect: SYN101
        if last is not None:
            last.item()  # expect: SYN101
        last = torch.ones(1, device="cuda")
        tokens = torch.zeros(1, device="cuda")
    tokens.item()  # expect: SYN101 (inferred)


def chain(steps: int):
    a = b = c = torch.zeros(1)
    for _ in range(steps):
        c.item()  # expect: SYN101
        c = b
        b = a
        a = torch.zeros(1, device="cuda")


def skip(rows: list[int]):
    t = torch.zeros(1)
    for row in rows:
        if row:
            t = torch.zeros(1, device="cuda")
            continue
        t.item()  # expect: SYN101
