"""The condition of a comprehension narrows its element."""

import torch


def run(fast: bool):
    rows = [torch.ones(4, device="cuda") if fast else torch.ones(4)]
    host = [row.tolist() for row in rows if row.is_cpu]  # silent
    gpu = [row.tolist() for row in rows if row.is_cuda]  # expect: SYN102
    later = [row.tolist() for row in rows if row is not None if not row.is_cuda]  # silent
    return host, gpu, later
