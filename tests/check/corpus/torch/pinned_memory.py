"""Pinned memory stays pinned in views, and is lost in what is computed from it."""

import torch


def run(n: int, pin: bool):
    pinned = torch.zeros(n, pin_memory=True)
    pinned[:4].to("cuda", non_blocking=True)  # expect: SYN602
    pinned.view(-1).to("cuda", non_blocking=True)  # silent
    pinned.fill_(1).to("cuda", non_blocking=True)  # silent
    (pinned + 1).to("cuda", non_blocking=True)  # expect: SYN303
    torch.cat([pinned, pinned]).to("cuda", non_blocking=True)  # expect: SYN303
    pinned[[0, 1]].to("cuda", non_blocking=True)  # expect: SYN303
    torch.zeros(n, pin_memory=pin).to("cuda", non_blocking=True)  # silent: it may be pinned
    torch.zeros(n, pin_memory=None).to("cuda", non_blocking=True)  # expect: SYN303
    torch.zeros(n, pin_memory=False).to("cuda", non_blocking=True)  # expect: SYN303
    either = pinned if pin else torch.zeros(n)
    either.to("cuda", non_blocking=True)  # silent: it may be pinned
    array = pinned.numpy()
    torch.from_numpy(array).to("cuda", non_blocking=True)  # silent: it is the same memory
    gpu = torch.ones(n, device="cuda")
    pinned.copy_(gpu, non_blocking=True)  # silent
    pinned.copy_(gpu)  # expect: SYN105
    torch.zeros(n).copy_(gpu, non_blocking=True)  # expect: SYN304
    gpu.copy_(pinned, non_blocking=True)  # silent
    gpu.copy_(pinned)  # expect: SYN302
    gpu.copy_(torch.zeros(n), non_blocking=True)  # expect: SYN303
