"""`non_blocking` by a variable, by a constant, and by place."""

import torch

ASYNC = True


def run(flag: bool, settings):
    pinned, gpu = torch.ones(4, pin_memory=True), torch.ones(4, device="cuda")
    pinned.to("cuda", non_blocking=ASYNC)  # silent
    pinned.to("cuda", non_blocking=flag)  # silent: the run decides
    pinned.to("cuda", non_blocking=settings.flag)  # silent
    pinned.to("cuda", non_blocking=False)  # expect: SYN302
    pinned.to("cuda", non_blocking=not flag)  # silent
    pinned.cuda(non_blocking=1)  # silent
    pinned.cuda(non_blocking=0)  # expect: SYN302
    gpu.to("cpu", non_blocking=flag)  # silent
    gpu.copy_(pinned, True)  # silent
    gpu.copy_(pinned, False)  # expect: SYN302
    return gpu.to("cpu", torch.float16, True)  # silent
