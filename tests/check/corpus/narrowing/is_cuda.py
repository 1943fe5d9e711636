"""`is_cuda` and `is_cpu` tell where a tensor is, on the path where they hold."""

import torch
from backend import lease


def run(fast: bool):
    t = torch.ones(4, device="cuda") if fast else torch.ones(4)
    if t.is_cuda:
        t.tolist()  # expect: SYN102
    else:
        t.tolist()  # silent
    if not t.is_cuda:
        t.tolist()  # silent
    if t.is_cpu and fast:
        t.tolist()  # silent
    if t.is_cpu or fast:
        t.tolist()  # expect: SYN102
    host = t.cpu() if t.is_cuda else t  # expect: SYN105
    host.tolist()  # silent
    unknown = lease()
    if unknown.is_cuda:  # silent
        unknown.tolist()  # expect: SYN102
    unknown.tolist()  # expect: SYN102
    while t.is_cuda:
        t.tolist()  # expect: SYN102
        return None
    return t.tolist()  # silent
