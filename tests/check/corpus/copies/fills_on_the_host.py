"""Filling host memory with a scalar of the GPU reads it; on the GPU nothing waits."""

import torch

scalar = torch.ones((), device="cuda")
torch.zeros(3).fill_(scalar)  # expect: SYN106
torch.zeros(3, device="cuda").fill_(scalar)  # silent
torch.zeros(3).fill_(scalar.cpu())  # expect: SYN105
