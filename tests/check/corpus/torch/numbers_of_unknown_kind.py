"""A Python number among tensors is a scalar; a host tensor of no dimension reaches the GPU as its value."""

import torch


def run(n: int, scale: float):
    gpu = torch.zeros(8, device="cuda")
    gpu.fill_(n)  # silent
    gpu.masked_fill_(gpu > 0, scale)  # silent
    gpu.add_(n, alpha=2)  # silent
    gpu[0] = n  # expect: SYN306
    gpu[:2] = 1.5  # silent: a fill
    return gpu.clamp(min=n)  # silent
