"""What is computed of masks is a mask; sums and indices of them are not."""

import torch


def run(unknown):
    gpu = torch.ones(8, device="cuda")
    mask = gpu > 0
    gpu[mask.clone()]  # expect: SYN201
    gpu[mask.view(-1)]  # expect: SYN201
    gpu[mask[:4]]  # expect: SYN201
    gpu[mask & mask]  # expect: SYN201
    gpu[mask | (gpu < 1)]  # expect: SYN201
    gpu[~mask]  # expect: SYN201
    gpu[mask.logical_not()]  # expect: SYN201
    gpu[mask.any(dim=0)]  # expect: SYN201
    gpu[torch.zeros_like(mask)]  # expect: SYN201
    gpu[torch.zeros(8, dtype=torch.bool, device="cuda")]  # expect: SYN201
    gpu[torch.tensor([True, False], device="cuda")]  # expect: SYN301, SYN201
    gpu[mask.to("cuda")]  # expect: SYN201
    gpu[mask.sum(dim=0, keepdim=True)]  # silent
    gpu[mask.nonzero()]  # expect: SYN202
    gpu[mask.long()]  # silent
    gpu[mask.to(torch.int64)]  # silent
    gpu[mask.cumsum(0)]  # silent
    gpu[mask.int().cumsum(0)]  # silent
    gpu[torch.zeros(8, dtype=torch.int64, device="cuda")]  # silent
    gpu[unknown]  # silent
    flag = torch.tensor(True, device="cuda")  # expect: SYN301
    return gpu[flag]  # expect: SYN201
