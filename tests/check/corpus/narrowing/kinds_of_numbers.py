"""isinstance of int, float and bool tells a number from a tensor; a device that is none of both tells nothing."""

import torch


def run(kind: int):
    t = torch.ones((), device="cuda")
    a = t if kind else 1
    if not isinstance(a, int):
        a.item()  # expect: SYN101
    b = t if kind else 1.5
    if not isinstance(b, float):
        b.item()  # expect: SYN101
    c = t if kind else True
    if not isinstance(c, bool):
        c.item()  # expect: SYN101
    if isinstance(c, (bool, int)):
        c.item()  # silent
    if t.device.type == "meta":
        t.item()  # false: SYN101
    d = {1} if kind else torch.ones(4, device="cuda")
    d.cpu()  # expect: SYN105
    e = {1: 2} if kind else torch.ones(4, device="cuda")
    e.cpu()  # expect: SYN105
    f = (1, 2) if kind else torch.ones(4, device="cuda")
    return f.cpu()  # expect: SYN105
