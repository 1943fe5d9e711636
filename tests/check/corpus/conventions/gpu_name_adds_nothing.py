"""A name that says GPU takes no evidence away from what the source shows."""

import torch


def run(fast: bool):
    rows = torch.ones(4, device="cuda") if fast else torch.ones(4)
    rows_gpu = rows
    return rows_gpu.sum().item()  # expect: SYN101 (inferred)
