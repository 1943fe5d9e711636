"""Data of the host that becomes a tensor on the GPU is copied there, and the host waits."""

import numpy as np
import torch


def run(ids: list[int], n: int):
    gpu = torch.ones(4, device="cuda")
    torch.tensor(ids, device="cuda")  # expect: SYN301
    torch.tensor(ids)  # silent
    torch.tensor(1.0, device="cuda")  # expect: SYN301
    torch.tensor(n, device="cuda")  # expect: SYN301
    torch.as_tensor(np.zeros(4), device="cuda")  # expect: SYN301
    torch.as_tensor(gpu, device="cuda")  # silent
    torch.as_tensor(torch.ones(4), device="cuda")  # expect: SYN301
    gpu.new_tensor(ids)  # expect: SYN301
    gpu.new_tensor(ids, device="cpu")  # silent
    torch.tensor([gpu.sum(), gpu.mean()], device="cuda")  # expect: SYN106
    torch.tensor(ids, pin_memory=True).to("cuda", non_blocking=True)  # silent
    torch.tensor(ids).to("cuda", non_blocking=True)  # expect: SYN303
    return torch.full((), 1.0, device="cuda")  # silent
