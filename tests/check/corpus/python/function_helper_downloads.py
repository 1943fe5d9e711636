"""A helper that downloads returns to the host, whatever its caller passes."""

import torch


def fetch(t: torch.Tensor):
    return t.cpu() if t.is_cuda else t  # expect: SYN105 `t.cpu()`


def run():
    fetch(torch.ones(4)).sum().item()  # silent
    fetch(torch.ones(4, device="cuda")).sum().item()  # silent
