"""A lambda is a function: its arguments come from its calls, its result is that of its body."""

import torch

double = lambda t: t * 2  # noqa: E731


def run(rows):
    double(torch.ones(1, device="cuda")).item()  # expect: SYN101
    read = lambda t: t.item()  # expect: SYN101
    read(torch.ones(1, device="cuda"))
    read_host = lambda t: t.item()  # silent
    read_host(torch.ones(1))
    threshold = torch.ones((), device="cuda")
    above = lambda: threshold.item()  # expect: SYN101
    for value in map(lambda t: t + 1, [torch.ones(1, device="cuda")]):
        value.item()  # expect: SYN101
    made = (lambda n: torch.zeros(n, device="cuda"))(4)
    return above, made.tolist()  # expect: SYN102
