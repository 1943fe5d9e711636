"""A copy to the host with `non_blocking=True` is in pinned memory."""

import torch


def offload(flag: bool):
    x = torch.ones(1 << 20, device="cuda")
    asynchronous = x.to("cpu", non_blocking=True)
    as_half = x.to("cpu", torch.float16, non_blocking=True)
    blocking = x.to("cpu")  # expect: SYN105
    perhaps = x.to("cpu", non_blocking=flag)
    asynchronous.to("cuda", non_blocking=True)  # silent
    as_half.to("cuda", non_blocking=True)  # silent
    blocking.to("cuda", non_blocking=True)  # expect: SYN303
    perhaps.to("cuda", non_blocking=True)  # silent
    asynchronous.to("cuda")  # expect: SYN302
