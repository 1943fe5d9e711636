"""Arguments and results are followed back through the calls."""

import torch


def make(n: int):
    return torch.zeros(n, device="cuda")  # at: made


def read(lens):
    return lens.tolist()  # expect: SYN102 (inferred)
    # because: passed: `lens` of `read` is passed here
    # because: made: `torch.zeros(n, device="cuda")` puts it there


def doubled(lens):
    total = lens * 2
    return total  # at: doubled


def run():
    lens = make(3)
    read(lens)  # at: passed
    doubled(lens).tolist()  # expect: SYN102 (inferred)  # at: call
    # because: doubled: returned by `doubled`
    # because: call: `lens` of `doubled` is passed here
    # because: made: `torch.zeros(n, device="cuda")` puts it there
