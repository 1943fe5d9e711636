"""An operation in place gives the tensor itself, where it was."""

import torch


def run():
    host = torch.zeros(4)
    host.zero_().add_(1).tolist()  # silent
    gpu = torch.zeros(4, device="cuda")
    gpu.fill_(1).mul_(2).tolist()  # expect: SYN102
    pinned = torch.zeros(4, pin_memory=True)
    pinned.add_(1).to("cuda", non_blocking=True)  # silent
    gpu.index_fill_(0, torch.arange(2, device="cuda"), 0.0)  # silent
    gpu.clamp_(min=0)  # silent
    mask = torch.zeros(4, device="cuda").bool()
    gpu.masked_fill_(mask, 0.0)  # silent
    gpu.index_put_((torch.arange(2),), torch.ones(2, device="cuda"))  # expect: SYN302
    positions = torch.arange(2, device="cuda")
    gpu.index_put_((positions,), gpu.new_ones(2))  # silent
    gpu.index_put_((positions,), torch.ones(2))  # expect: SYN302
    gpu.index_put_((mask,), gpu.new_ones(2))  # expect: SYN206
    return gpu.requires_grad_().tolist()  # expect: SYN102
