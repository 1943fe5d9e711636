"""torch takes NumPy's names of some parameters: `axis` for `dim`, `keepdims` for `keepdim`."""

import torch


def rows():
    x = torch.ones(3, 4, device="cuda")
    y = torch.ones(3, 4, device="cuda")
    y[torch.argmin(x, axis=1)]  # silent
    y[x.argmax(axis=1)]  # silent
    y[torch.argmin(x, dim=1), torch.argmin(x, axis=1, keepdims=True)]  # silent
    return y[torch.argmin(x)]  # expect: SYN106


def both():
    x = torch.ones(3, 4, device="cuda")
    return torch.nonzero(x=x), torch.add(x1=x, x2=x)  # expect: SYN202 `torch.nonzero(x=x)`
