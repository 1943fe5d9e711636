"""What two paths agree on is kept where they differ in something else."""

import torch


def run(fast: bool, n: int, mask_of):
    gpu = torch.ones(8, device="cuda")
    host = torch.zeros(n) if fast else torch.ones(n, 4)
    host.to("cuda", non_blocking=True)  # expect: SYN303
    mask = gpu > 0 if fast else gpu.view(-1, 1) > 0
    gpu[mask]  # expect: SYN201
    flat = torch.zeros(n, device="cuda") if fast else torch.arange(n, device="cuda")
    flat[0] = 1.0  # expect: SYN306
    pinned = torch.zeros(n, pin_memory=True) if fast else torch.zeros(n, 4, pin_memory=True)
    pinned.to("cuda", non_blocking=True)  # silent
    pinned.cuda()  # expect: SYN302
    either = gpu if fast else [1, 2]
    either[mask]  # expect: SYN201
    either[0]  # silent: it may be a list
    return torch.zeros(4, device=torch.get_default_device()).tolist()  # expect: SYN102 (inferred)
