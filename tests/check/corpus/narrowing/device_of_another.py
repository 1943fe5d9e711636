"""A test that compares the devices of two tensors, or one with a device, says where the first lives."""

import torch


def run(x, y, where: torch.device):
    gpu, host = torch.ones(1, device="cuda"), torch.ones(1)
    if x.device == gpu.device:
        x.tolist()  # expect: SYN102
    if x.device == host.device:
        x.tolist()  # silent
    if y.device != torch.device("cpu"):
        y.tolist()  # silent
    else:
        y.tolist()  # silent
    either = gpu if y else host
    if either.device == torch.device("cpu"):
        either.tolist()  # silent
    if either.device == where:
        return None
    return either.tolist()  # expect: SYN102
