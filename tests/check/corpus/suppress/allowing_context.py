"""A wait inside of a context manager that allows waits is not reported."""

from contextlib import nullcontext

import torch
from project.debug import allow_grad_sync, gpu_sync_allowed, gpu_sync_check, no_sync_allowed

import syncscan


def run():
    x = torch.ones(4, device="cuda")
    with syncscan.allow_sync("the scheduler needs the count"):
        count = x.sum().item()  # silent
        if count > 2:
            x.tolist()  # silent
    with gpu_sync_allowed():
        x.tolist()  # silent
    with nullcontext() if count else gpu_sync_allowed():
        x.tolist()  # silent
    with gpu_sync_check(), no_sync_allowed(), allow_grad_sync():
        return x.tolist()  # expect: SYN102
