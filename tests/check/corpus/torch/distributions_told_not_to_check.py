"""A distribution that was made with `validate_args=False` checks no values, unless another one inside does."""

import torch
from torch.distributions import (
    AffineTransform,
    Independent,
    Normal,
    OneHotCategorical,
    TransformedDistribution,
)


def run(told: bool):
    x = torch.ones(3, device="cuda")
    base = Normal(x, x, validate_args=False)
    base.log_prob(x)  # silent
    base.cdf(x)  # silent
    base.sample()  # expect: SYN502
    Normal(x, x, validate_args=told).log_prob(x)  # expect: SYN502, SYN502
    either = base if told else Normal(x, x)  # expect: SYN502
    either.log_prob(x)  # expect: SYN502
    either.log_prob(torch.ones(3))  # silent


def wrapped():
    x = torch.ones(3, device="cuda")
    base = Normal(x, x, validate_args=False)
    moved = [AffineTransform(x, x)]
    Independent(base, 1).log_prob(x)  # silent
    TransformedDistribution(base, moved, validate_args=False).log_prob(x)  # silent
    TransformedDistribution(base, moved).log_prob(x)  # expect: SYN502
    checked = Normal(x, x)  # expect: SYN502
    Independent(checked, 1, validate_args=False).log_prob(x)  # expect: SYN502
    TransformedDistribution(checked, moved, validate_args=False).log_prob(x)  # expect: SYN502
    hot = OneHotCategorical(x, validate_args=False)  # expect: SYN502
    hot.log_prob(x)  # expect: SYN502
