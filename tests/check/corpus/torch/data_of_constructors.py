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


def of_what_else_the_paths_hold(names, flag, request):
    known = {"a": 1}
    rows = [known.get(name) for name in names]
    torch.tensor(rows, device="cuda")  # expect: SYN301
    torch.tensor(["a" if flag else 3, request.number], device="cuda")  # expect: SYN301
    torch.as_tensor([[len(name), None if flag else 3] for name in names], device="cuda")  # expect: SYN301
    torch.as_tensor([torch.ones(1, device="cuda") if flag else None], device="cuda")  # expect: SYN106
    torch.as_tensor(names, device="cuda")  # silent: it may be a tensor there
