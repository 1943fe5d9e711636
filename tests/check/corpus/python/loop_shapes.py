"""break and continue leave from deep inside; while loops have an else too."""

import torch


def run(steps: int, flag: bool):
    t = torch.ones(1)
    while steps:
        steps -= 1
        if flag:
            t = torch.ones(1, device="cuda")
            break
    else:
        t.item()  # silent
        t = torch.ones(2)
    t.item()  # expect: SYN101
    u = torch.ones(1, device="cuda")
    for _ in range(steps):
        if flag:
            u = torch.ones(1)
            continue
        u = torch.ones(1)
        u.item()  # silent
    u.item()  # expect: SYN101
    v = torch.ones(1)
    for _ in range(steps):
        for _ in range(steps):
            if flag:
                v = torch.ones(1, device="cuda")
                break
        v.item()  # expect: SYN101
    while True:
        w = torch.ones(1, device="cuda")
        if flag:
            break
    return w.item()  # expect: SYN101
