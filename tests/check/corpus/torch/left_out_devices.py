"""A device that a call leaves out puts nothing on the GPU in this call, whatever other calls pass."""

import torch


def plain(x, device=None):
    return torch.tensor(x, device=device)  # expect: SYN301


def spread(x, **kwargs):
    return torch.tensor(x, **kwargs)  # expect: SYN301


def handed_on(x, **kwargs):
    return spread(x, **kwargs)


def placed(x, device="cuda"):
    return torch.zeros(3, device=device) + len(x)


def like(x, device=None):
    return torch.zeros(3, device=device or x.device)


def with_devices(y: torch.Tensor):
    y = y.cuda()
    plain([1, 2], device=y.device).sum().item()  # expect: SYN101
    spread([1, 2], device=y.device).sum().item()  # expect: SYN101
    handed_on([1, 2], device=y.device).sum().item()  # expect: SYN101


def without(y: torch.Tensor, options: dict):
    y = y.cuda()
    plain([1, 2]).sum().item()
    plain([1, 2], None).sum().item()
    spread([1, 2]).sum().item()
    spread([1, 2], dtype=torch.int).sum().item()
    handed_on([1, 2]).sum().item()
    placed([1, 2]).sum().item()  # expect: SYN101
    like(y).sum().item()  # expect: SYN101
    like(torch.zeros(3)).sum().item()
