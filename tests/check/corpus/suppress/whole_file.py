# syncscan: file-ignore[SYN101] a tool that reads everything
"""A file may set aside a code for all of it."""

import torch

t = torch.ones(1, device="cuda")
t.item()  # silent
t.tolist()  # expect: SYN102
