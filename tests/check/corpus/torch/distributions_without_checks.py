"""A project may turn off the checks of all distributions; a call that asks for them is checked all the same."""

import torch
from torch.distributions import Distribution, Gamma, Normal

Distribution.set_default_validate_args(False)


def run(check: bool):
    rate = torch.ones(4, device="cuda")
    Gamma(rate, rate)  # silent
    Gamma(rate, rate, validate_args=True)  # expect: SYN502
    Gamma(rate, rate, validate_args=check)  # expect: SYN502
    torch.linalg.inv(rate.diag())  # expect: SYN502
    return Normal(rate, rate).log_prob(rate)  # silent
