import torch

SHARED = torch.zeros(1, device="cuda")
shared_by_star = torch.zeros(1, device="cuda")


def make(n):
    return torch.zeros(n, device="cuda")
