"""Arguments and results are followed back through the calls."""

import torch


def make(n: int):
    return torch.zeros(n, device="cuda")  # at: made


def read(lens):
    return lens.tolist()  # expect: SYN102 (inferred)
    # because: passed: a call site passes `lens` to `read`
    # because: made: `torch.zeros(n, device="cuda")` places the tensor on the GPU


def doubled(lens):
    total = lens * 2
    return total  # at: doubled


def run():
    lens = make(3)
    read(lens)  # at: passed
    doubled(lens).tolist()  # expect: SYN102 (inferred)  # at: call
    # because: doubled: `doubled` returns the value
    # because: call: a call site passes `lens` to `doubled`
    # because: made: `torch.zeros(n, device="cuda")` places the tensor on the GPU
