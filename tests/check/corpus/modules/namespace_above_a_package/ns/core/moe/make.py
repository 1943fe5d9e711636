import torch


def make(n: int):
    return torch.ones(n, device="cuda")
