"""A function that names other hardware runs there alone; one that names the GPU too runs on it."""

import torch


def get_max_npu_memory(device: torch.device):
    return torch.tensor([1, 2], device=device)  # silent


def copy_from_npu_to_gpu(x):
    return torch.tensor([1, 2], device="cuda").tolist()  # expect: SYN301, SYN102


def mapset(device: torch.device):
    return torch.tensor([1, 2], device=device)  # expect: SYN301
