"""What may be too many things is nothing in particular."""

import numpy as np
import torch


def run(kind: int):
    value = None
    if kind == 1:
        value = torch.ones(1, device="cuda")
    elif kind == 2:
        value = np.ones(1)
    elif kind == 3:
        value = [torch.ones(1, device="cuda")]
    elif kind == 4:
        value = "cuda"
    elif kind == 5:
        value = {1: 2}
    elif kind == 6:
        value = (1, 2)
    elif kind == 7:
        value = 3
    value.item()  # silent
    many = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, torch.ones(1, device="cuda"))
    float(many[0])  # silent
    torch.zeros(8, device="cuda")[many[3]]  # silent
    deep = [[[[torch.ones(1, device="cuda")]]]]
    return deep[0][0][0][0].item()  # todo: SYN101
