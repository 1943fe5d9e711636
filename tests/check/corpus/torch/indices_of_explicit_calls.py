"""The index of ``x.__getitem__(index)`` is that of ``x[index]``: a tuple is several indices, and a list becomes a tensor."""

import torch

x = torch.ones(4, 4, device="cuda")
rows = torch.tensor([0, 1]).cuda(non_blocking=True)
mask = x > 0
x.__getitem__((rows, rows))  # silent
x.__getitem__((..., rows))  # silent
x.__getitem__((mask,))  # expect: SYN206
x.__getitem__([0, 1])  # expect: SYN302
x[rows, rows]  # silent
x[[0, 1]]  # expect: SYN305
