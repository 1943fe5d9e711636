"""A distribution checks its arguments on the host, unless it is told not to."""

import torch
from torch.distributions import Poisson


def run(check: bool):
    rate = torch.ones(4, device="cuda")
    torch.distributions.Poisson(rate)  # expect: SYN502
    Poisson(rate)  # expect: SYN502
    torch.distributions.Poisson(rate, validate_args=False)  # silent
    torch.distributions.Poisson(rate, validate_args=True)  # expect: SYN502
    torch.distributions.Poisson(rate, validate_args=check)  # silent: the run decides
    torch.distributions.Poisson(torch.ones(4))  # silent
