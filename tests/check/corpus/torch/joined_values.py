"""What two paths agree on is kept: pageable memory, masks, dimensions, the place of a device."""

import torch


def run(fast: bool, n: int):
    gpu = torch.ones(8, device="cuda")
    host = torch.zeros(n) if fast else torch.ones(n)
    host.to("cuda", non_blocking=True)  # expect: SYN303
    mask = gpu > 0 if fast else gpu < 1
    gpu[mask]  # expect: SYN201
    mask_or_index = gpu > 0 if fast else gpu.long()
    gpu[mask_or_index]  # silent: it may be an index
    flat = torch.zeros(n, device="cuda") if fast else torch.ones(n, device="cuda")
    flat[0] = 1.0  # expect: SYN306
    rows = torch.zeros((n, 4), device="cuda") if fast else torch.ones(n, device="cuda")
    rows[0] = 1.0  # silent: it may be a row
    where = torch.device("cuda") if fast else "cuda"
    torch.zeros(4, device=where).tolist()  # expect: SYN102
    at_host = torch.device("cpu") if fast else "cpu"
    torch.zeros(4, device=at_host).tolist()  # silent
    unsure = torch.device("cpu") if fast else "cuda"
    return torch.zeros(4, device=unsure).tolist()  # expect: SYN102 (inferred)
