"""`torch.tensor` of something unknown copies data of the host; a tensor is copied in other ways."""

import torch
from backend import lease


def run(rows, device: torch.device):
    torch.tensor(rows, device="cuda")  # expect: SYN301
    torch.tensor(lease(), device=device)  # expect: SYN301 (inferred)
    torch.tensor(rows)  # silent
    torch.as_tensor(rows, device="cuda")  # silent: it may be a tensor there
    gpu = torch.ones(4, device="cuda")
    gpu.new_tensor(rows)  # expect: SYN301
    return torch.tensor(gpu, device="cuda")  # silent
