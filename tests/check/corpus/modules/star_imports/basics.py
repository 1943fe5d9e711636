"""What others take by `*`: a package, a function, a tensor, and what this module has by `*` itself."""

import torch

from parts import *  # noqa: F403

rows = torch.arange(8, device="cuda")
_hidden = torch.arange(8, device="cuda")


def sum(x):
    return x.cpu()  # expect: SYN105


def own():
    return torch.arange(8, device="cuda")
