"""Conditions for other hardware in `and`, `or` and conditional expressions."""

import torch
from platforms import current_platform


def run():
    t = torch.ones(4, device="cuda")
    a = current_platform.is_tpu() and t.tolist()  # silent
    b = not current_platform.is_tpu() and t.tolist()  # expect: SYN102
    c = current_platform.is_cuda_alike() or t.tolist()  # silent
    d = t.cpu() if current_platform.is_cpu() else t  # silent
    d.tolist()  # expect: SYN102
    e = t if torch.cuda.is_available() else t.to("cpu")  # silent
    f = current_platform.is_cuda() and t.tolist()  # expect: SYN102
    return a, b, c, e, f
