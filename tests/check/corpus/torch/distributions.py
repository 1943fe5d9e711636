"""A distribution checks its arguments on the host, unless it is told not to."""

import torch
from torch.distributions import Poisson, kl_divergence


def run(check: bool):
    rate = torch.ones(4, device="cuda")
    torch.distributions.Poisson(rate)  # expect: SYN502
    Poisson(rate)  # expect: SYN502
    torch.distributions.Poisson(rate, validate_args=False)  # silent
    torch.distributions.Poisson(rate, validate_args=True)  # expect: SYN502
    torch.distributions.Poisson(rate, validate_args=check)  # expect: SYN502
    torch.distributions.Poisson(torch.ones(4))  # silent


def compare(policy, batch):
    kl_divergence(policy(batch), policy(batch)).item()  # silent: where the policy is, they are


def clip(model):
    here = torch.ones(4)
    torch.nn.utils.clip_grad_norm_([here], 1.0).item()  # silent
    torch.nn.utils.clip_grad_norm_([here.cuda()], 1.0).item()  # expect: SYN101, SYN302
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()  # expect: SYN101


class Masked(torch.distributions.Categorical):
    def __init__(self, probs=None, logits=None, masks=None):
        super().__init__(probs, logits)  # expect: SYN502
        torch.as_tensor([1, 2], device=self.logits.device)  # expect: SYN301


def sample():
    masked = Masked(logits=torch.ones(4, device="cuda"))
    masked.log_prob(torch.ones((), device="cuda"))  # expect: SYN502
    return masked.entropy().tolist(), masked.sample().item()  # expect: SYN102, SYN101


class OnTheHost(torch.distributions.Categorical):
    def __init__(self, logits):
        super().__init__(logits=logits)  # silent
        self.logits.tolist()  # silent


OnTheHost(torch.ones(4)).log_prob(torch.ones(())).item()  # silent


class Prior(torch.distributions.MultivariateNormal):
    def __init__(self, loc, covariance):
        loc = torch.ones(2, device="cuda")
        torch.distributions.MultivariateNormal.__init__(self, loc, covariance)  # expect: SYN502

    def mean_of(self):
        return self.loc.tolist()  # expect: SYN102


class Truncated(torch.distributions.Distribution):
    arg_constraints = {
        "low": torch.distributions.constraints.real,
        "high": torch.distributions.constraints.real,
    }

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = torch.distributions.utils.broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)  # expect: SYN502

    def sample(self):
        return self.low.tolist()  # expect: SYN102


class Unchecked(torch.distributions.distribution.Distribution):
    arg_constraints = {"low": torch.distributions.constraints.real}

    def __init__(self, low):
        self.low, self.other = low, torch.ones(3, device="cuda")
        super().__init__(low.size(), validate_args=False)  # silent


class OfTheHost(torch.distributions.Distribution):
    arg_constraints = {"low": torch.distributions.constraints.real}

    def __init__(self, low):
        self.low, self.other = low, torch.ones(3, device="cuda")
        super().__init__(low.size())  # silent


def truncated(x=torch.ones(3, device="cuda")):
    low, high = torch.distributions.utils.broadcast_all(x, 2.0)  # expect: SYN302
    torch.distributions.utils.broadcast_all(x, x)  # silent
    torch.distributions.utils.broadcast_all(torch.ones(3), 2.0)  # silent
    Truncated(low, high), Unchecked(low), OfTheHost(torch.ones(3))
    return high.tolist()  # expect: SYN102


def of_a_number_or_a_tensor(loc: float | torch.Tensor, scale: float) -> torch.Tensor:
    """A parameter annotated `float | Tensor` counts as a tensor: the distribution moves numbers to its device."""
    return torch.distributions.Normal(loc, scale).rsample()  # expect: SYN502 (inferred)


def of_numbers(loc: float | int, scale: float) -> torch.Tensor:
    return torch.distributions.Normal(loc, scale).rsample()  # silent
