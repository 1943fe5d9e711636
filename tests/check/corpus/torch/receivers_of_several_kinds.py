"""A call blocks where it blocks for each thing that its receiver may be."""

import torch
from torch.distributions import Bernoulli, Normal


def scored(kind: str, rate: torch.Tensor, value: torch.Tensor):
    rate, value = rate.cuda(), value.cuda()
    if kind == "flag":
        made = Bernoulli(rate)  # expect: SYN502
    elif kind == "none":
        made = None
    else:
        made = Normal(rate, rate)  # expect: SYN502
    made.entropy()  # silent
    return made.log_prob(value)  # expect: SYN502


class Flow:
    def log_prob(self, value):
        return value.sum()


def unsure(kind: str, rate: torch.Tensor, value: torch.Tensor):
    made = Flow() if kind == "flow" else Normal(rate.cuda(), 1.0)  # expect: SYN502
    return made.log_prob(value.cuda())  # silent: a flow checks nothing


def uploaded(gain: float | None):
    made = torch.tensor(gain) if gain is not None else None
    return made.to("cuda")  # expect: SYN302


def decomposed(factor: torch.Tensor, several: bool):
    whole = {"a": factor.cuda()} if several else factor.cuda()
    torch.linalg.eigh(whole)  # expect: SYN502
    rows = [factor] if several else factor
    return torch.linalg.eigh(rows)  # expect: SYN502 (inferred)


def decomposed_on_the_host(several: bool):
    return torch.linalg.eigh({} if several else torch.eye(4))  # silent
