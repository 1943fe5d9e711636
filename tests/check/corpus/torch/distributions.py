"""A distribution checks its arguments on the host, unless it is told not to."""

import torch
from torch.distributions import Poisson, kl_divergence


def run(check: bool):
    rate = torch.ones(4, device="cuda")
    torch.distributions.Poisson(rate)  # expect: SYN502
    Poisson(rate)  # expect: SYN502
    torch.distributions.Poisson(rate, validate_args=False)  # silent
    torch.distributions.Poisson(rate, validate_args=True)  # expect: SYN502
    torch.distributions.Poisson(rate, validate_args=check)  # silent: the run decides
    torch.distributions.Poisson(torch.ones(4))  # silent


def compare(policy, batch):
    kl_divergence(policy(batch), policy(batch)).item()  # silent: where the policy is, they are


def clip(model):
    here = torch.ones(4)
    torch.nn.utils.clip_grad_norm_([here], 1.0).item()  # silent
    torch.nn.utils.clip_grad_norm_([here.cuda()], 1.0).item()  # expect: SYN101, SYN302
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()  # expect: SYN101
