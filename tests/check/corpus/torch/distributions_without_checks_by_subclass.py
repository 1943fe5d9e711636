"""Each class of distributions inherits the setter, which is of all of them, whichever class it is called on."""

import torch
from torch.distributions import Gamma, Normal


class Policy:
    def __init__(self):
        Normal.set_default_validate_args(False)

    def run(self):
        rate = torch.ones(4, device="cuda")
        Gamma(rate, rate, validate_args=True)  # expect: SYN502
        torch.linalg.inv(rate.diag())  # expect: SYN502
        Gamma(rate, rate)  # silent
        return Normal(rate, rate).log_prob(rate)  # silent
