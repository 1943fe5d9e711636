"""Moves between the devices wait unless they are told not to, from and to pinned memory."""

import torch


def up(n: int):
    host, pinned = torch.ones(n), torch.ones(n, pin_memory=True)
    host.cuda()  # expect: SYN302
    host.to("cuda")  # expect: SYN302
    host.to(device="cuda:0")  # expect: SYN302
    pinned.cuda()  # expect: SYN302
    pinned.to("cuda", non_blocking=True)  # silent
    host.to("cuda", non_blocking=True)  # expect: SYN303
    host.pin_memory().to("cuda", non_blocking=True)  # silent
    host.to(torch.float16)  # silent
    host.to(torch.ones(1, device="cuda"))  # expect: SYN302
    return host.to("cuda", torch.float16).tolist()  # expect: SYN102, SYN302


def down(n: int):
    gpu = torch.ones(n, device="cuda")
    gpu.cpu()  # expect: SYN105
    gpu.to("cpu")  # expect: SYN105
    gpu.to(torch.ones(1))  # expect: SYN105
    gpu.to("cpu", non_blocking=True)  # silent: but unsafe to read
    gpu.to("cuda")  # silent: it is there
    gpu.cuda()  # silent
    gpu.half().cpu().tolist()  # expect: SYN105
    gpu.cpu().numpy()  # expect: SYN105
    return gpu.type_as(torch.ones(1))  # expect: SYN105
