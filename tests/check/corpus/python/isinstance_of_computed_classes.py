"""A class that a call computes stands in a test once, however often the test is looked at."""

import torch


def count(x, others):
    total = torch.zeros(3, device="cuda").sum()
    if isinstance(x, (type(others[0]), type(others[1]), torch.Tensor)):
        return 0
    if not isinstance(total, (type(others[0]), list)):
        return int(total)  # expect: SYN103
    return total.item()  # expect: SYN101
