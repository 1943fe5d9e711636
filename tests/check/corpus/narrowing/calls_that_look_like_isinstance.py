"""Only `isinstance` tells what a value is: other functions of two arguments do not, whatever their names."""

import builtins

import torch
from kinds import is_instance


def isinstance_of(value, kind):
    return kind in type(value).__mro__


def others(flags):
    x = torch.ones(4, device="cuda")
    if is_instance(x, int):
        x.tolist()  # expect: SYN102
    if isinstance_of(x, list):
        return x.sum().item()  # expect: SYN101
    if not is_instance(x, torch.Tensor):
        x.tolist()  # expect: SYN102
    assert hasattr(x, "tolist")
    return x.tolist()  # expect: SYN102


def of_the_library(x):
    x = torch.ones(4, device="cuda")
    if builtins.isinstance(x, int):
        return x.tolist()  # silent
    return x.tolist()  # expect: SYN102


def shadowed(isinstance):
    x = torch.ones(4, device="cuda")
    if isinstance(x, int):
        x.tolist()  # expect: SYN102
