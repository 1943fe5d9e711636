"""`and` and `or` tell their later operands where a tensor is."""

import torch


def run(fast: bool):
    t = torch.ones(1, device="cuda") if fast else torch.ones(1)
    a = t.is_cuda and t.item()  # expect: SYN101
    b = t.is_cpu and t.item()  # silent
    c = t.is_cuda or t.item()  # silent
    d = t.is_cpu or t.item()  # expect: SYN101
    e = fast and t.is_cpu and t.item()  # silent
    f = t.item() if t.is_cpu else 0  # silent
    g = 0 if t.is_cpu else t.item()  # expect: SYN101
    h = not t.is_cpu and t.item()  # expect: SYN101
    i = not (t.is_cuda or fast) and t.item()  # silent
    t.item()  # expect: SYN101
    return a, b, c, d, e, f, g, h, i
