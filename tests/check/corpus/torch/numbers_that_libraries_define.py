"""Numbers such as pi are on the host, so a tensor that is made of one on the GPU is copied there."""

import math

import numpy as np
import torch


def of_torch(x: torch.Tensor):
    x = x.cuda()
    pi = torch.tensor(torch.pi, device=x.device)  # expect: SYN301
    return x * pi * torch.tensor([torch.inf, torch.nan], device="cuda")  # expect: SYN301


def of_others():
    first = torch.tensor(np.pi, device="cuda")  # expect: SYN301
    return first + torch.tensor((math.e, math.tau, np.e), device="cuda")  # expect: SYN301
