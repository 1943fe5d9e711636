"""An index of dtype uint8 is a mask, as one of bool is."""

import torch


def select():
    rows = torch.zeros((8, 4), device="cuda")
    chosen = torch.zeros(8, dtype=torch.uint8, device="cuda")
    kept = rows[chosen]  # expect: SYN201
    kept = rows[chosen.int().byte()]  # expect: SYN201
    rows[chosen] = 0.0  # silent: masked_fill_ does not count
    rows[chosen.long()] = 0.0  # expect: SYN306
    return kept, rows[torch.zeros(8, dtype=torch.uint8)]  # silent: a mask in host memory is counted there
