import torch
from b import doubled


def make():
    return doubled(torch.ones(1, device="cuda"))


make().item()  # expect: SYN101
