import torch


def make(n):
    return torch.zeros(n, device="cuda")
