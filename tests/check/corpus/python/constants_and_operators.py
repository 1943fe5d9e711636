"""Numbers, texts and lists stay what they are under Python's operators."""

import torch


def run(n: int):
    counts = torch.zeros(8, device="cuda")
    counts[n + 1] = 1.0  # expect: SYN306
    counts[-n] = 1.0  # expect: SYN306
    counts[2 * n % 8 // 3] = 1.0  # expect: SYN306
    counts[[0] * n] = 0.0  # expect: SYN305
    counts[[1] + [2]] = 0.0  # expect: SYN305
    counts[: n + 1] = 1.0  # silent: a fill
    name = "cuda" + ":0"
    torch.ones(4, device=name).tolist()  # expect: SYN102
    label = "rows %d" % n
    halves = torch.ones((2, 4), device="cuda")
    halves[-1].tolist()  # expect: SYN102
    halves[-1] = 0.0  # silent: a row is filled
    return label, -halves.sum().item()  # expect: SYN101
