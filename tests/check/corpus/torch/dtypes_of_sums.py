"""What is computed of a mask and of integers is no mask."""

import torch


def run():
    gpu = torch.ones(8, device="cuda")
    mask, index = gpu > 0, gpu.long()
    gpu[mask * index]  # silent
    gpu[index * mask]  # silent
    gpu[torch.where(mask, index, 0)]  # silent
    gpu[mask ^ mask]  # expect: SYN201
    gpu[torch.cat([mask, mask])]  # expect: SYN201
    gpu[torch.stack([mask[0], mask[1]])]  # expect: SYN201
    gpu[torch.cat([index, index])]  # silent
    return gpu[torch.cat([mask, index])]  # silent
