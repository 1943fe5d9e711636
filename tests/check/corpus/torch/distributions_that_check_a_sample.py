"""A distribution checks a sample of the GPU on the host, in its own methods and where a subclass calls the check."""

import torch
from torch.distributions import Normal


class Clipped(Normal):
    def cdf(self, value: torch.Tensor):
        if self._validate_args:
            self._validate_sample(value)  # expect: SYN502
        return value

    def icdf(self, value: torch.Tensor):
        self._validate_sample(torch.ones(4))  # silent
        return value


def rows(several: bool):
    return [torch.ones(4, device="cuda")] if several else torch.ones(4, device="cuda")


def scored(several: bool):
    x = torch.ones(4, device="cuda")
    Clipped(x, x).cdf(x)  # todo: SYN502
    made = Normal(x, x)  # expect: SYN502
    return made.log_prob(rows(several))  # expect: SYN502


def scored_unknown(batch):
    x = torch.ones(4, device="cuda")
    made = Normal(x, x)  # expect: SYN502
    made.log_prob(batch.actions)  # expect: SYN502
    host = Normal(torch.ones(4), torch.ones(4))
    return host.log_prob(batch.actions)  # silent
