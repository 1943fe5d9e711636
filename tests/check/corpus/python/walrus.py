"""`:=` binds in the function around it."""

import torch


def run(rows):
    if (n := torch.ones(1, device="cuda")) is not None:
        n.item()  # expect: SYN101
    while (best := torch.ones(4, device="cuda").max()) is not None:
        return best.item()  # expect: SYN101
    known = [total := torch.ones(1, device="cuda")]
    total.item()  # expect: SYN101
    found = rows and (last := torch.ones(1, device="cuda"))
    return known, found, last.item()  # expect: SYN101
