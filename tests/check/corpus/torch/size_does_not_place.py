"""The sizes of a result do not place it."""

import torch
import torch.nn.functional as F


def window():
    width = torch.ones((), device="cuda", dtype=torch.int64)
    index = F.pad(torch.arange(8), (0, width), "constant", -1)  # expect: SYN106
    return index[index != -1].sum().item()  # silent
